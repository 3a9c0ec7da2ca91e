"""Files that are not what their names promise."""


def substitute(start: bytes) -> str:
    """Say what a file is instead of the expected one.

    Args:
        start: The file's first bytes.

    Returns:
        What the file is and what to do, or "" for no known substitute.
    """
    if start.startswith(b"version https://git-lfs"):
        return "is a Git-LFS pointer in the place of the file; run `git lfs pull`"
    if start.lstrip().startswith(b"<"):
        return "is a web page; fetch it again"
    return ""
