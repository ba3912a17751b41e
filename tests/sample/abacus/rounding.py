import enum

__all__ = ["Rounding"]


class Rounding(enum.Enum):
    UP = "up"
    DOWN = "down"

    def __call__(self, number):
        import math
        return math.ceil(number) if self is Rounding.UP else math.floor(number)
