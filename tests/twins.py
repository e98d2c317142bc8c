"""What twins say: times and rates."""


def ms(time):
    """A time, or the mean of evenly spaced quantiles between which times are equally likely, ms."""
    if isinstance(time, dict):
        of = [ms(quantile) for quantile in time["quantiles"]]
        return sum((a + b) / 2 for a, b in zip(of, of[1:])) / (len(of) - 1)
    number, unit = time.split()
    return float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]


def hz(rate):
    number, unit = rate.split()
    assert unit == "Hz"
    return float(number)


def slept_ms(callback):
    """The median of its sleep. Waits for a CPU are off the CPU, too: alone on the machine, half of the sleeps have none."""
    slept = callback["sleep"]
    return ms(slept["quantiles"][len(slept["quantiles"]) // 2] if isinstance(slept, dict) else slept)
