"""Trigger sets: is a skill chosen for the requests that it is for, and left alone by the others?"""
