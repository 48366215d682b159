"""One text for one meaning: canonical JSON, for hashes and for comparing values."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any


def text(value: Any) -> str:
    """Return JSON with sorted keys and no blanks, the same for equal values in any process.

    Examples
    --------
    >>> text({"b": 1, "a": [True, None, 0.1]})
    '{"a":[true,null,0.1],"b":1}'
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except TypeError:  # keys of mixed types, as in YAML: {old: batch, 2080: batch}
        return json.dumps(_named(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _named(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _named(inner) for key, inner in value.items()}
    return [_named(inner) for inner in value] if isinstance(value, list | tuple) else value


def key(value: Any) -> str:
    """Return the same text for axis values that mean the same: 1 is 1.0, but true is not 1.

    Examples
    --------
    >>> key(1) == key(1.0), key(1) == key(True)
    (True, False)
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):  # an integer beyond the range of floats
            return repr(float(value))
    return text(value)


def word(value: Any) -> str:
    """Return a value as messages and reports show it: strings as they are, anything else as JSON."""
    return value if isinstance(value, str) else text(value)
