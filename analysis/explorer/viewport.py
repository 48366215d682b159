"""How wide the browser's window is, which the server does not know by itself."""

from __future__ import annotations

import param
from panel.custom import JSComponent


class Viewport(JSComponent):
    """Follows the width of the window; nothing of it is seen."""

    width = param.Integer(default=1400)

    _esm = """
    export function render({ model }) {
      const tell = () => { model.width = window.innerWidth; };
      window.addEventListener('resize', tell);
      tell();
      const nothing = document.createElement('span');
      nothing.hidden = true;
      return nothing;
    }
    """
