"""The width of the browser's window, which the server does not get by itself."""

from __future__ import annotations

import param
from panel.custom import JSComponent


class Viewport(JSComponent):
    """Follows the width of the window; it is invisible."""

    width = param.Integer(default=1400)

    _esm = """
    export function render({ model }) {
      const update = () => { model.width = window.innerWidth; };
      window.addEventListener('resize', update);
      update();
      return Object.assign(document.createElement('span'), { hidden: true });
    }
    """
