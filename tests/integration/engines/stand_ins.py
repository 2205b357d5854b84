"""Servers that give an engine's client one documented answer, and note what they were asked: no engine is behind them."""

from __future__ import annotations

import contextlib
import json
import socketserver
import struct
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.integration.engines.servers import Served
from tests.integration.packages import need_there


class StandIn(Served):
    """`answer` is what comes back; `asked` holds what clients have sent, in the engine's own words."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []
        self.server = self.make_server()
        self.port = self.server.server_address[1]


class Http(StandIn):
    """Answers every request with the same JSON, but that for how to log in."""

    def make_server(self):
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            log_message = lambda *_: None  # noqa: E731 - the tests' output is for pytest

            def reply(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path, _, parameters = self.path.partition("?")
                asked = dict(urllib.parse.parse_qsl(parameters)) | json.loads(body or "{}")
                stand_in.asked.append((path, asked))
                answer = json.dumps(stand_in.answer).encode()
                self.send_response(404 if path.endswith("openid-configuration") else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = reply  # noqa: N815 - the names are the base class's

        return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


class _TcpServer(socketserver.ThreadingTCPServer):
    daemon_threads = True


class _Tcp(StandIn):
    """Answers each message of a protocol of its own; a client may close the connection at any time."""

    def make_server(self):
        stand_in = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                with contextlib.suppress(EOFError, ConnectionError):
                    while True:
                        stand_in.talk(self.rfile, self.wfile)

        return _TcpServer(("127.0.0.1", 0), Handler)


def read(stream, size):
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


class Redis(_Tcp):
    """Speaks RESP: FT.SEARCH has the answer, all else is OK."""

    def talk(self, stream, out):
        line = stream.readline()
        if not line:
            raise EOFError
        command = []
        for _ in range(int(line[1:])):
            size = int(stream.readline()[1:])
            command.append(read(stream, size + 2)[:-2].decode())
        if command[0] == "FT.SEARCH":
            self.asked.append(command)
            out.write(resp(self.answer))
        elif command[0] == "HELLO":
            out.write(resp({"server": "redis", "proto": 3}))
        else:
            out.write(b"+OK\r\n")


def resp(value):
    """Write a value as a Redis server does."""
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, str):
        data = value.encode()
        return b"$%d\r\n%s\r\n" % (len(data), data)
    if isinstance(value, dict):
        pairs = [resp(part) for pair in value.items() for part in pair]
        return b"%%%d\r\n%s" % (len(value), b"".join(pairs))
    return b"*%d\r\n%s" % (len(value), b"".join(map(resp, value)))


class Mongo(_Tcp):
    """Speaks MongoDB's OP_MSG and the OP_QUERY of a first greeting: `find` and `aggregate` have the answer."""

    def talk(self, stream, out):
        import bson

        length, request, _, code = struct.unpack("<iiii", read(stream, 16))
        body = read(stream, length - 16)
        if code == 2004:
            reply = self.reply(bson.BSON(body[body.index(b"\0", 4) + 9 :]).decode())
            message = struct.pack("<iqii", 8, 0, 0, 1) + bson.BSON.encode(reply)
            code = 1
        else:
            reply = self.reply(bson.BSON(body[5:]).decode())
            message = struct.pack("<ib", 0, 0) + bson.BSON.encode(reply)
        out.write(struct.pack("<iiii", 16 + len(message), 1, request, code) + message)

    def reply(self, command):
        if {"find", "aggregate"} & set(command):
            self.asked.append(command)
            return {"ok": 1.0, "cursor": {"id": 0, "ns": "shop.docs", "firstBatch": self.answer}}
        greeting = {"isWritablePrimary": True, "ismaster": True, "maxWireVersion": 25, "minWireVersion": 0}
        sizes = {"maxBsonObjectSize": 16777216, "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000}
        return {"ok": 1.0, **greeting, **sizes}


class Weaviate:
    """Weaviate's gRPC service: `Search` has the answer, a list of (uuid, properties). Its version is had by HTTP."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []
        self.http = Http({"version": "1.33.0"})

    def __enter__(self):
        need_there("weaviate")
        import grpc
        from weaviate.proto.v1 import search_get_pb2, weaviate_pb2_grpc

        stand_in = self

        class Service(weaviate_pb2_grpc.WeaviateServicer):
            def Search(self, request, _context):  # noqa: N802 - the name is the service's
                stand_in.asked.append(request)
                reply = search_get_pb2.SearchReply(took=0.1)
                for uuid, properties in stand_in.answer:
                    result = reply.results.add()
                    result.metadata.id = uuid
                    for name, text in properties.items():
                        result.properties.non_ref_props.fields[name].text_value = text
                return reply

        self.server = grpc.server(ThreadPoolExecutor(2))
        weaviate_pb2_grpc.add_WeaviateServicer_to_server(Service(), self.server)
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()
        self.http.__enter__()
        return self

    def __exit__(self, *_):
        self.http.__exit__()
        self.server.stop(None)
