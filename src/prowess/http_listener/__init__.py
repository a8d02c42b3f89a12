"""An HTTP listener for any ASGI application: connection limits, request checks, health probes, short errors.

The listener does not depend on the application that it serves. uvicorn provides the sockets and the parser.
"""
