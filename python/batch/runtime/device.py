"""Devices that run compiled models."""

import re

# A number has at most nine digits, so that it fits the runtime's type.
_PATTERN = re.compile(r"cpu|emulator|cuda|cuda:(\d{1,9})")


def parse_device(device: str) -> tuple[str, int]:
    """Returns the compiler's name of a device, and the number of the GPU.

    Raises ValueError for an unknown name.
    """
    found = _PATTERN.fullmatch(device) if isinstance(device, str) else None
    if not found:
        raise ValueError(f"invalid device {device!r}; expected 'cpu', 'emulator', 'cuda' or "
                         "'cuda:N', where N is the number of a GPU")
    return device.partition(":")[0], int(found[1] or 0)


def no_explanation(device: str) -> str:
    """Returns the message for an explanation of a run on a device."""
    return (f"device {device!r} does not support explain(), because one launch of a kernel runs "
            "a whole mini-batch; use device='cpu'")
