"""An HTTP listener for any ASGI application: limits on connections, who may send a request, health, short errors.

It knows nothing of what is served. uvicorn has the sockets and the parser.
"""
