"""The jobs of rq_day.py: a worker imports them by name."""


def double(n):
    return 2 * n


def fail():
    raise ValueError("as it should")
