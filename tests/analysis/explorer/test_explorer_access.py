"""Which requests the explorer answers: over HTTP, and by all routes that the framework registers."""

import asyncio
import http.client
import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import panel as pn
import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.routing import PathMatches, Rule
from tornado.websocket import websocket_connect

from analysis.explorer.access import SERVED, Access
from analysis.explorer.server import protected

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

HANDLERS = {
    "DocHandler": "/",
    "WSHandler": "/ws",
    "IcoHandler": "/favicon.ico",
    "StaticHandler": "/static/js/bokeh.min.js",
    "MultiRootStaticHandler": "/static/extensions/panel/panel.min.js",
}
"""The handlers of the framework that answer, and a path of each. An update that adds others opens none."""

TEXTS = ["", "x", "json/tool/x", "panel/panel.min.js", "../../setup.py", "%2e%2e/x.js", "js/bokeh.min.js"]


def free_port() -> int:
    """Return a port that is not in use."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def rules(router: Any) -> Iterator[Rule]:
    """Yield the rules of a router and of those in it."""
    for rule in router.rules:
        if hasattr(rule.target, "rules"):
            yield from rules(rule.target)
        else:
            yield rule


@pytest.fixture(scope="module")
def routes() -> list[Rule]:
    """All routes of the server, as the framework registers them."""

    async def registered() -> list[Rule]:
        port = free_port()
        server = protected(lambda: pn.pane.HTML("the page"), port, Access(port))
        found = list(rules(server._tornado.default_router))
        server.start()
        server.stop()
        return found

    return asyncio.run(registered())


def answering(routes: list[Rule], path: str) -> str:
    """Return the name of the handler that the framework would choose."""
    return next(route.target.__name__ for route in routes if route.matcher.regex.match(path))


def test_only_handlers_on_the_list_answer(routes: list[Rule]) -> None:
    """A route that an update of the framework adds is refused, whatever it is."""
    assert all(isinstance(route.matcher, PathMatches) for route in routes)
    assert {*HANDLERS} < {route.target.__name__ for route in routes}
    served = set()
    for route in routes:
        for text in TEXTS:
            path = route.matcher.regex.pattern.replace("(?!extensions/)", "").replace("(.*)", text)
            if SERVED.fullmatch(path := path.rstrip("$").replace("?", "")):
                served.add(answering(routes, path))
    assert served == {*HANDLERS}
    assert all(answering(routes, path) == name for name, path in HANDLERS.items())


Fetch = Callable[..., tuple[int, dict[str, str], str]]


def exchange(work: Callable[[Fetch, Access], None], *proxies: str) -> None:
    """Run what sends requests beside the server that answers them."""

    async def both() -> None:
        port = free_port()
        access = Access(port, proxies)
        server = protected(lambda: pn.pane.HTML("the page"), port, access, title="the page")

        def fetch(path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=given)
            answer = connection.getresponse()
            found = answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")
            connection.close()
            return found

        server.start()
        try:
            await asyncio.to_thread(work, fetch, access)
        finally:
            server.stop()

    asyncio.run(both())


def path_of(address: str) -> str:
    """Return an address without its host."""
    return "/" + address.split("/", 3)[3]


def test_the_token_of_the_address_opens_the_page() -> None:
    def work(fetch: Fetch, access: Access) -> None:
        for path in HANDLERS.values():
            status, _, text = fetch(path)
            assert (status, "python -m analysis explore" in text) == (403, True), path
        for wrong in ("", "0", "%ff", "é".encode().decode("latin1").encode("unicode_escape").decode()):
            assert fetch(f"/?token={wrong}")[0] == 403
        entrance = path_of(access.address)
        assert fetch(entrance.replace("/?", "/favicon.ico?"))[0] == 403  # it is the page's only
        status, headers, text = fetch(f"{entrance}&metric=slowdown&shown=a%2Cb")
        assert (status, headers["Location"]) == (302, "/?metric=slowdown&shown=a%2Cb")
        cookie = headers["Set-Cookie"]
        assert {"HttpOnly", "SameSite=Strict"} <= {*cookie.split("; ")}
        own = cookie.partition(";")[0]
        assert fetch(entrance, Cookie=own)[1]["Location"] == "/"  # opened twice, it opens
        for path in HANDLERS.values():
            assert fetch(path, Cookie=own)[0] == (400 if path == "/ws" else 200), path
        status, _, text = fetch("/", Cookie=own)
        assert own.partition("=")[2] not in text
        name, _, value = own.partition("=")
        for other in (f"{name}=", f"{name}={value}x", f"{name}=é", f"other={value}"):
            assert fetch("/", Cookie=other.encode().decode("latin1"))[0] == 403
        once = path_of(access.address_once)
        assert [fetch(once)[0], fetch(once)[0]] == [302, 403]

    exchange(work)


def test_behind_a_proxy_the_page_is_below_its_path_only() -> None:
    """As JupyterHub forwards requests: with its own host, and without its part of the path."""
    of_hub = {"Host": "hub.example.org", "Origin": "https://hub.example.org", "Sec_Fetch_Site": "same-origin"}

    def work(fetch: Fetch, access: Access) -> None:
        entrance = path_of(access.address)
        status, headers, _ = fetch(f"{entrance}&metric=wait", **of_hub)
        assert (status, headers["Location"]) == (302, "./?metric=wait")
        assert "Path=" not in headers["Set-Cookie"], "a browser then takes the path of the page"
        own = headers["Set-Cookie"].partition(";")[0]
        status, _, text = fetch("/", Cookie=own, **of_hub)
        assert status == 200
        assert not re.search(r"""(?:src|href)=["']/""", text), "all that the page loads is below its path"
        for name, value in (("Host", "other.example.org"), ("Origin", "https://other.example.org")):
            assert fetch("/", Cookie=own, **of_hub | {name: value})[0] == 421
        assert fetch("/", **of_hub)[0] == 403

    exchange(work, "hub.example.org")


CROSS = [
    ({"Host": "evil.example:5006"}, 421),
    ({"Host": "127.0.0.1"}, 421),
    ({"Origin": "http://evil.example"}, 421),
    ({"Origin": "null"}, 421),
    ({"Sec_Fetch_Site": "cross-site"}, 403),
    ({"Sec_Fetch_Site": "same-site"}, 403),
    ({"Sec_Fetch_Site": "whatever"}, 403),
    ({"Sec_Fetch_Site": "none"}, 200),
    ({"Sec_Fetch_Site": "same-origin"}, 200),
]


def test_requests_from_other_pages_are_refused_though_signed_in() -> None:
    def work(fetch: Fetch, access: Access) -> None:
        entrance = path_of(access.address)
        own = fetch(entrance)[1]["Set-Cookie"].partition(";")[0]
        for headers, status in CROSS:
            for path in ("/", "/static/js/bokeh.min.js"):
                assert fetch(path, Cookie=own, **headers)[0] == status, headers
            assert fetch(entrance, **headers)[0] == (302 if status == 200 else status), headers
        assert fetch("/", Cookie=own, Origin=f"http://{access.hosts[1]}", Host=access.hosts[1])[0] == 200
        assert fetch("/", "POST", Cookie=own)[0] == 405

    exchange(work)


def test_the_web_socket_needs_the_cookie() -> None:
    async def opened(access: Access, headers: Mapping[str, str]) -> int:
        request = HTTPRequest(f"ws://{access.hosts[0]}/ws", headers=headers)
        try:
            (await websocket_connect(request, subprotocols=["bokeh", "x"])).close()
        except HTTPClientError as error:
            return error.code
        return 101

    def work(fetch: Fetch, access: Access) -> None:
        own = fetch(path_of(access.address))[1]["Set-Cookie"].partition(";")[0]
        foreign = {"Cookie": own, "Origin": "http://evil.example"}
        assert asyncio.run(opened(access, {})) == 403
        assert asyncio.run(opened(access, {"Cookie": own, "Sec-Fetch-Site": "cross-site"})) == 403
        assert asyncio.run(opened(access, foreign)) == 421

    exchange(work)


@pytest.mark.parametrize(
    "path",
    [
        "/components/seen_module/C/css/x", "/components/seen_module/C", "//components/seen_module/C/css/x",
        "/%63omponents/seen_module/C/css/x", "/autoload.js?bokeh-autoload-element=x", "/metadata", "/index",
        "/static/../components/seen_module/C/css/x", "/static/extensions/panel/../../../seen_module.py",
        "/static/extensions/panel/%2e%2e/%2e%2e/seen_module.py", "/static/extensions/other/x.js",
        "/static/js/", "/static/extensions/panel/package.json", "/liveness", "/rest/x", "/_reload/x", "/./",
        "http://evil.example/", "/static/js/bokeh.min.js%00", "/static/js/bokeh.min.js%0a",
    ],
)  # fmt: skip
def test_other_paths_are_not_found_and_import_nothing(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "seen_module.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def work(fetch: Fetch, access: Access) -> None:
        own = fetch(path_of(access.address))[1]["Set-Cookie"].partition(";")[0]
        for headers in ({}, {"Cookie": own}):
            assert fetch(path, **headers)[0] == 404

    exchange(work)
    assert "seen_module" not in sys.modules
    assert not Path("ran").exists()
