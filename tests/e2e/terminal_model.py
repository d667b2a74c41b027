"""A small terminal for tests: what a program wrote to it, as a person sees it."""
import re

SEQUENCE = re.compile(r"\x1b\[([<=>?]?)([\d;:]*)([@-~])|\x1b([78DEMc])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|(.)", re.S)


class Terminal:
    def __init__(self, columns=80, rows=24):
        self.columns, self.rows = columns, rows
        self.screen = [[" "] * columns for _ in range(rows)]
        self.scrolled = []
        self.row = self.column = 0
        self.wrap = False
        self.saved = (0, 0)
        self.left = ""  # an unfinished sequence

    def resize(self, columns, rows):
        """As xterm: cut or filled up at the right; rows go at the top, so that the cursor stays in sight."""
        self.screen = [(line + [" "] * columns)[:columns] for line in self.screen]
        while len(self.screen) > rows:
            if self.row < rows:
                self.screen.pop()
            else:
                self.scrolled.append("".join(self.screen.pop(0)).rstrip())
                self.row -= 1
        while len(self.screen) < rows:
            self.screen.append([" "] * columns)
        self.columns, self.rows = columns, rows
        self.column, self.wrap = min(self.column, columns - 1), False

    def index(self):
        if self.row + 1 < self.rows:
            self.row += 1
            return
        self.scrolled.append("".join(self.screen.pop(0)).rstrip())
        self.screen.append([" "] * self.columns)

    def feed(self, data):
        text = self.left + data
        self.left = ""
        cut = re.search(r"\x1b(?:\[[<=>?]?[\d;:]*|\][^\x07\x1b]*)?$", text)
        if cut:
            self.left, text = text[cut.start():], text[:cut.start()]
        for private, numbers, last, single, char in SEQUENCE.findall(text):
            if char:
                self.put(char)
            elif single:
                self.escape(single)
            elif last and not private:
                self.sequence(last, [int(n) if n else 0 for n in re.split("[;:]", numbers)])

    def put(self, char):
        if char == "\n":
            self.index()
        elif char == "\r":
            self.column = 0
        elif char == "\b":
            self.column = max(0, self.column - 1)
        elif char == "\t":
            self.column = min(self.columns - 1, self.column // 8 * 8 + 8)
        elif char >= " ":
            if self.wrap:
                self.column = 0
                self.index()
            self.screen[self.row][self.column] = char
            self.wrap = self.column + 1 == self.columns
            self.column = min(self.columns - 1, self.column + 1)
            return
        if char in "\n\r\b\t":
            self.wrap = False

    def escape(self, single):
        self.wrap = False
        if single == "7":
            self.saved = (self.row, self.column)
        elif single == "8":
            self.row, self.column = min(self.saved[0], self.rows - 1), min(self.saved[1], self.columns - 1)
        elif single == "D":
            self.index()
        elif single == "E":
            self.column = 0
            self.index()
        elif single == "M":
            self.row = max(0, self.row - 1)

    def sequence(self, last, numbers):
        count = max(1, numbers[0])
        if last == "m":
            return
        self.wrap = False
        if last == "A":
            self.row = max(0, self.row - count)
        elif last == "B":
            self.row = min(self.rows - 1, self.row + count)
        elif last == "C":
            self.column = min(self.columns - 1, self.column + count)
        elif last == "D":
            self.column = max(0, self.column - count)
        elif last == "G":
            self.column = min(self.columns, count) - 1
        elif last == "K":
            span = {0: range(self.column, self.columns), 1: range(self.column + 1), 2: range(self.columns)}[numbers[0]]
            for column in span:
                self.screen[self.row][column] = " "
        elif last == "J" and numbers[0] == 0:
            self.sequence("K", [0])
            for row in range(self.row + 1, self.rows):
                self.screen[row] = [" "] * self.columns

    def lines(self):
        """What is on the screen, without the empty rows at the end."""
        lines = ["".join(line).rstrip() for line in self.screen]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def everything(self):
        return self.scrolled + self.lines()
