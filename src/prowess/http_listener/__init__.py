"""An HTTP listener for any ASGI application: connection limits, request checks, health probes, short errors.

It is independent of the application that it serves. uvicorn provides the sockets and the parser.
"""
