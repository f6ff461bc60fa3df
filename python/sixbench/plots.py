"""Three plots with matplotlib, each of which returns its axes."""

from statistics import median

#: Of results.csv: the limits of a search that the device did not end.
OPEN = ("tester", "maximum", "disturbed")


def _axes(axes):
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None
    return pyplot.subplots(figsize=(8, 4), layout="constrained")[1]


def plot_throughput(results, size=None, tests=None, axes=None):
    """Draws the throughputs at a frame size (by default the smallest): medians as bars, repetitions as dots.

    A dot is hollow where the tester, the plan or other work ended the search: the truth may be higher. `tests` names the tests to draw, since a device
    in shared memory must not be compared with others; by default all are.
    """
    throughputs = [row for row in results.searches if row.get("measure") == "throughput" and (tests is None or row["test"] in tests)]
    is_found = lambda row: row["lower_bound_frames_per_s_per_direction"] is not None and row.get("result") != "not-found"
    found = [row for row in throughputs if is_found(row)]
    if not found:
        raise ValueError(f"{results.directory}: no search has found a rate")
    size = size or min(row["frame_size_octets"] for row in found)
    goal = min(row["goal_loss_ratio"] for row in found)
    rows = [row for row in found if row["frame_size_octets"] == size and row["goal_loss_ratio"] == goal]
    titles = list(dict.fromkeys(row["title"] for row in rows))
    axes = _axes(axes)
    for place, title in enumerate(titles):
        of_title = [row for row in rows if row["title"] == title]
        rates = [row["lower_bound_frames_per_s_per_direction"] for row in of_title]
        # A bar that may be longer is hatched, as in the report.
        hatch = "//" if any(row["limit"] in OPEN for row in of_title) else None
        axes.barh(place, median(rates), color="#0072b2", alpha=0.3, hatch=hatch)
        for row, rate in zip(of_title, rates):
            is_open = row["limit"] in OPEN
            axes.plot(rate, place, "o", color="#24292f", fillstyle="none" if is_open else "full")
    axes.set_yticks(range(len(titles)), titles)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(f"frames/s per direction, {size} octets")
    return axes


def plot_search(results, test, size, axes=None):
    """Draws the load of every trial of a point in the order of the run: passed or not, and made again."""
    rows = [row for row in results.trials if row["test"] == test and row["frame_size_octets"] == size]
    rows = [row for row in rows if row["direction"] == rows[0]["direction"]]
    if not rows:
        raise ValueError(f"{results.directory}: no trial of {test} at {size} octets")
    axes = _axes(axes)
    looks = {"made again": ("x", "#cc79a7"), "lost": ("v", "#d55e00"), "all received": ("o", "#0072b2")}
    for word, (marker, color) in looks.items():
        places = [(i, row["rate"]) for i, row in enumerate(rows, 1) if _word(row) == word]
        if places:
            axes.plot(*zip(*places), marker, color=color, label=word)
    axes.set_yscale("log")
    axes.set_xlabel("trial")
    axes.set_ylabel("intended load (frames/s per direction)")
    axes.legend()
    return axes


def _word(row):
    if "made-again" in row["faults"]:
        return "made again"
    return "all received" if row["received"] == row["offered"] else "lost"


def plot_delay(results, test, size, axes=None):
    """Draws minimum, median, 99.9th percentile and maximum of the delay over the load of the trials of a point."""
    rows = [row for row in results.trials if row["test"] == test and row["frame_size_octets"] == size]
    rows = sorted((row for row in rows if row["delay_median_ns"] is not None), key=lambda row: row["rate"])
    if not rows:
        raise ValueError(f"{results.directory}: no trial of {test} at {size} octets has delays")
    axes = _axes(axes)
    for name in ("min", "median", "p999", "max"):
        axes.plot([row["rate"] for row in rows], [row[f"delay_{name}_ns"] / 1e6 for row in rows], ".", label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("intended load (frames/s per direction)")
    axes.set_ylabel("delay (ms)")
    axes.legend()
    return axes
