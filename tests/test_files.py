"""Files written whole or not at all, and nothing else replaced."""

import os
import stat

import pytest

from miptree.utils.files import refuse_overwriting, write_atomic


def test_a_file_is_replaced_only_if_asked(tmp_path):
    path = tmp_path / "file"
    write_atomic(path, b"one", force=False)
    with pytest.raises(FileExistsError, match="--force"):
        write_atomic(path, b"two", force=False)
    write_atomic(path, b"two", force=True)
    assert path.read_bytes() == b"two"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.name != "posix", reason="no such permissions here")
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    path = tmp_path / "file"
    write_atomic(path, b"one", force=False)
    path.chmod(0o600)
    write_atomic(path, b"two", force=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("linked", [False, True])
def test_pipes_and_devices_are_never_replaced(tmp_path, linked):
    pipe = path = tmp_path / "pipe"
    os.mkfifo(pipe)
    if linked:
        path = tmp_path / "link"
        path.symlink_to(pipe)
    for force in (False, True):
        with pytest.raises(OSError, match="is a pipe or a device"):
            write_atomic(path, b"x", force)
        with pytest.raises(OSError, match="'/dev/null' is a pipe or a device"):
            refuse_overwriting("/dev/null", force)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
