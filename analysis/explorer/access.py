"""The requests that the explorer answers: listed paths, from its own page, with the address's token."""

import re
import secrets
from collections.abc import Sequence
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tornado.httputil import HTTPServerRequest
from tornado.web import Application, RequestHandler

ADDRESS = "127.0.0.1"

SERVED = re.compile(
    r"/|/ws|/favicon\.ico|/static/js/bokeh[\w.-]*\.js"
    r"|/static/extensions/panel/([\w@][\w@.-]*(%5E[\w.-]+)?/)*[\w@][\w@.-]*\.(js|css|svg|png|woff2?)",
    re.ASCII,
)
"""Paths that the page needs. The framework's other routes, `/components/MODULE` for example, import code."""

OTHER_PAGE = "this request came from another site or port: type or paste the address into the address bar"
NO_TOKEN = "open the address that `python -m analysis explore` printed, with its token"


class Access:
    """The access check in front of the framework's handlers.

    A foreign page may point its own host name at this machine, and any user of the machine may connect. Bokeh
    checks the origin of web sockets only, and requests for scripts and images have none.

    Parameters
    ----------
    port : int
        The port of the page; cookies are the same for all ports, so its number is in the cookie's name.
    proxies : sequence of str
        Hosts of proxies, such as JupyterHub's, through which the page is reached as well, below a path of
        theirs: the cookie is only for that path.
    """

    def __init__(self, port: int, proxies: Sequence[str] = ()) -> None:
        self._port = port
        self.hosts = (f"{ADDRESS}:{port}", f"localhost:{port}", *proxies)
        self._origins = {None, *(f"http://{host}" for host in self.hosts)}
        self._origins |= {f"https://{host}" for host in proxies}
        self._root = "./" if proxies else "/"
        self.cookie = f"explorer_{port}"
        self._token = secrets.token_urlsafe(32)
        self._once: set[str] = set()

    @property
    def address(self) -> str:
        """The address of the page, with its token."""
        return f"http://{ADDRESS}:{self._port}/?token={self._token}"

    @property
    def address_once(self) -> str:
        """An address for the command line of a browser, which other users can read: it works once."""
        self._once.add(token := secrets.token_urlsafe(32))
        return f"http://{ADDRESS}:{self._port}/?token={token}"

    def protect(self, application: Application) -> None:
        """Pass a request to the handlers of an application only if it is allowed."""
        found = application.find_handler

        def find_handler(request: HTTPServerRequest, **options: Any) -> Any:
            if refused := self.refusal(request):
                status, reason = refused
                return application.get_handler_delegate(
                    request, Refusal, {"status": status, "reason": reason}
                )
            given = parse_qsl(request.query, keep_blank_values=True)
            if "token" in dict(given):  # keep it out of the address bar, the history and the page
                rest = urlencode([(key, value) for key, value in given if key != "token"])
                cookie = (self.cookie, self._token)
                to = f"{self._root}?{rest}" if rest else self._root
                return application.get_handler_delegate(request, SignIn, {"to": to, "cookie": cookie})
            return found(request, **options)

        application.find_handler = find_handler  # type: ignore[method-assign]

    def refusal(self, request: HTTPServerRequest) -> tuple[int, str] | None:
        """Return the status and the reason of a refusal, or None if the request is allowed."""
        if not SERVED.fullmatch(request.path):
            return 404, "no such path"
        if request.method not in ("GET", "HEAD"):
            return 405, "only GET and HEAD are allowed"
        headers = request.headers
        if request.host not in self.hosts or headers.get("Origin") not in self._origins:
            return 421, f"this page is served at http://{self.hosts[0]}/ only"
        if headers.get("Sec-Fetch-Site") not in (None, "none", "same-origin"):
            return 403, OTHER_PAGE
        return None if self._is_signed_in(request) else (403, NO_TOKEN)

    def _is_signed_in(self, request: HTTPServerRequest) -> bool:
        """Return whether the cookie is valid, or the token of the page's address."""
        held = request.cookies.get(self.cookie)
        if held is not None and self._is_token(held.value):
            return True
        given = dict(parse_qsl(request.query)).get("token", "") if request.path == "/" else ""
        if given in self._once:
            self._once.remove(given)
            return True
        return self._is_token(given)

    def _is_token(self, given: str) -> bool:
        return compare_digest(given.encode(errors="replace"), self._token.encode())


class Refusal(RequestHandler):
    """Refuses a request in one line."""

    def initialize(self, status: int, reason: str) -> None:
        """Take what `Access.refusal` returned."""
        self._refusal = status, reason

    def prepare(self) -> None:
        """Answer before the method of the request is considered."""
        status, reason = self._refusal
        self.set_status(status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{status}: {reason}\n")


class SignIn(RequestHandler):
    """Stores the token in a cookie and leads to the same address without it."""

    def initialize(self, to: str, cookie: tuple[str, str]) -> None:
        """Take the address, and the name and value of the cookie."""
        self._to, self._signed = to, cookie

    def prepare(self) -> None:
        """Redirect, whatever the method is."""
        path = "/" if self._to.startswith("/") else ""  # of a proxy: the path that the browser knows
        self.set_cookie(*self._signed, path=path, httponly=True, samesite="Strict")
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        self.redirect(self._to)
