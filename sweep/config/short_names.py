"""Where Hydra finds an experiment on which another one builds by its short name."""

from pathlib import Path

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult

from sweep.config import choices


class ShortNames(FileConfigSource):
    """A config folder in which ``experiment/packing`` is ``experiment/feitelson1996/packing.yaml``."""

    @staticmethod
    def scheme() -> str:
        """Return how a search path names such a folder, ``short://FOLDER``."""
        return "short"

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the file that is meant."""
        return super().load_config(self._meant(config_path))

    def is_config(self, config_path: str) -> bool:
        """Whether there is such a file."""
        return super().is_config(self._meant(config_path))

    def _meant(self, config_path: str) -> str:
        group, _, name = config_path.removesuffix(".yaml").partition("/")
        found = choices.find_base(group, name, [Path(self.path)]) if name else None
        return f"{group}/{found}" if found else config_path


def search_path(project: Path, user: Path | None) -> list[str]:
    """Return the folders in which Hydra looks beside the project's: exact names first, then short ones."""
    Plugins.instance().register(ShortNames)
    short = [f"short://{folder}" for folder in (project, user) if folder]
    return [f"file://{user}", *short] if user else short
