"""A module with examples, for the demo's agents to work on."""


def total(prices: list[int]) -> int:
    """What a basket costs, in cents.

    >>> total([250, 100])
    350
    """
    return sum(prices)


def shown(cents: int) -> str:
    """An amount as people read it.

    >>> shown(350)
    '3.50'
    """
    return f"{cents // 100}.{cents % 100:02}"


def discounted(cents: int, percent: int) -> int:
    """The price after a discount, rounded down.

    >>> discounted(999, 10)
    899
    """
    return cents * (100 - percent) // 100


def is_free(cents: int) -> bool:
    """Whether there is nothing to pay.

    >>> is_free(0)
    True
    """
    return cents == 0
