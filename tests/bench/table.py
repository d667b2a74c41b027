"""The rows of a benchmark written in Python, as bench.h prints them."""


class Table:
    """A row with a limit fails when its figure is on the wrong side."""

    def __init__(self):
        self.failed = False

    def figure(self, name, value, unit):
        self._row(name, value, unit, "", "")

    def at_least(self, name, value, unit, limit):
        self._judge(name, value, unit, ">= %g" % limit, value >= limit)

    def at_most(self, name, value, unit, limit):
        self._judge(name, value, unit, "<= %g" % limit, value <= limit)

    def _judge(self, name, value, unit, limit, good):
        self.failed = self.failed or not good
        self._row(name, value, unit, limit, "ok" if good else "FAILED")

    @staticmethod
    def _row(name, value, unit, limit, verdict):
        print("%-58s %12.4g %-10s %-10s %s" % (name, value, unit, limit, verdict), flush=True)
