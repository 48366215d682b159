"""The server of the page: it answers its own page only, and needs no network."""

import asyncio
import logging
import os
import socket
import sys
import webbrowser
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError

from analysis.errors import AnalysisError
from analysis.explorer import views
from analysis.explorer.access import ADDRESS, Access
from analysis.explorer.choice import Choice
from analysis.explorer.source import Source

PHONE = """
@media (max-width: 820px) {
  #content { flex-direction: column; overflow: auto; }
  #main { order: -1; }
  #main, #sidebar { height: auto; overflow: visible; }
  #sidebar { min-width: 0; max-width: none; }
  #sidebar.hidden { display: none; }
  #header .title { font-size: 1rem; overflow-wrap: anywhere; }
}
"""
"""Style of narrow windows: controls below the plot."""

DARK = ":root { --pictures: invert(0.9) hue-rotate(180deg); }"
"""Style of the dark theme: pictures are inverted, and keep their hues."""

TRIED = 50
"""Number of ports that are tried, from the first one on."""


def free_port(first: int) -> int:
    """Return the first free port from this one on.

    Raises
    ------
    AnalysisError
        If `TRIED` ports are in use.
    """
    for port in range(first, min(first + TRIED, 65536)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((ADDRESS, port))
            except OSError:
                continue
            return port
    raise AnalysisError(
        f"port={first}: all ports from {first} to {port} are in use; give another one, e.g. port=8080"
    )


def opened(address: str) -> bool:
    """Open a browser window; return whether that worked."""
    shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER")
    if sys.platform.startswith("linux") and not shown:
        return False  # a text browser would take the terminal away from the server
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False


def serve(
    sources: Sequence[Source], port: int, logs: Sequence[Path], *, browser: bool, proxies: Sequence[str] = ()
) -> None:
    """Serve the page until Ctrl-C; for `proxies` see `Access`."""
    import panel as pn
    from bokeh.resources import Resources

    from analysis.explorer.page import Page

    views.known()
    for source in sources:  # the first view of every window
        source.described(Choice.first(source.study))

    logging.getLogger("bokeh").setLevel(logging.ERROR)
    logging.getLogger("tornado.access").setLevel(logging.ERROR)
    pn.extension("tabulator", inline=False)
    pn.theme.Fast._resources.pop("font", None)  # it would be loaded from a network
    Resources._default_components = ["bokeh", "bokeh-widgets", "bokeh-tables"]  # no formulas, no WebGL
    name = ", ".join(source.study.name for source in sources)

    def page() -> Any:
        location = pn.state.location
        query = {key: values[0].decode() for key, values in (pn.state.session_args or {}).items()}

        def keep(number: int, own: dict[str, str]) -> None:
            """Keep the choice in the address; keys of further datasets begin with their number."""
            query.update({f"{number}." * bool(number) + key: value for key, value in own.items()})
            if location is not None:
                location.search = f"?{urlencode(query)}"

        pages = []
        for number, source in enumerate(sources):
            start = f"{number}." * bool(number)
            mine = {key: value for key, value in query.items() if key.startswith(start)}
            asked = {key.removeprefix(start): value for key, value in mine.items()}
            pages.append(Page(source, logs, asked, partial(keep, number)))
            pages[-1].follow()
            pn.state.on_session_destroyed(partial(_close, pages[-1]))
        return pn.template.FastListTemplate(
            title=escape(name), font="system-ui, sans-serif", sidebar_width=300, theme_toggle=True,
            raw_css=[PHONE, DARK * (query.get("theme") == "dark")], main_max_width="1600px",
            sidebar=[pn.Card(one.side, title=escape(source.study.name), hide_header=len(pages) == 1)
                     for one, source in zip(pages, sources, strict=True)],
            main=[pn.FlexBox(*(one.main for one in pages), gap="24px")],
        )  # fmt: skip

    free = free_port(port)
    if free != port:
        print(f"port {port} is in use; the page is at port {free}")
    access = Access(free, proxies)
    server = protected(page, free, access, title=name)
    server.start()
    server.io_loop.asyncio_loop.set_exception_handler(_report)
    print(f"{name}: {access.address} (Ctrl-C ends it)", flush=True)
    if proxies:
        below = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/PATH/OF/THE/PROXY/")
        token = access.address.partition("?")[2]
        print(f"through {proxies[0]}: https://{proxies[0]}{below}proxy/{free}/?{token}", flush=True)
    if browser and not proxies and not opened(access.address_once):
        print("no browser could be opened: open this address in a browser on this machine", flush=True)
    try:
        server.io_loop.start()
    except KeyboardInterrupt:
        print()
    finally:
        server.stop()


def protected(page: Callable[[], Any], port: int, access: Access, title: str = "") -> Any:
    """Return a server of a page, not started, whose handlers receive only requests that `access` allows."""
    import panel as pn

    server = pn.serve(
        page, port=port, address=ADDRESS, websocket_origin=list(access.hosts), show=False, start=False,
        verbose=False, title=title, threaded=False,
    )  # fmt: skip
    access.protect(server._tornado)
    return server


def _close(page: Any, context: Any) -> None:
    """End the background work of a page whose window was closed."""
    page.close()


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report errors in the background, except closed windows."""
    if not isinstance(context.get("exception"), WebSocketClosedError | StreamClosedError):
        loop.default_exception_handler(context)
