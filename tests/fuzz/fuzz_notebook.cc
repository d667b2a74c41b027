// links: read
#include "fuzz.h"
#include "read/files/notebook.h"

namespace {

struct Outcome {
  std::string text;
  bool ok = true;
};

Outcome read_all(std::string_view bytes, size_t most) {
  mw::NotebookReader reader;
  Outcome outcome;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, most);
    outcome.ok = reader.feed(piece, [&](std::string_view text) { outcome.text.append(text); }).ok() && outcome.ok;
    bytes.remove_prefix(piece.size());
  }
  outcome.ok = reader.finish([&](std::string_view text) { outcome.text.append(text); }).ok() && outcome.ok;
  return outcome;
}

}  // namespace

std::vector<std::string> mw::fuzz_seeds() {
  return {
      R"({"cells": [{"outputs": [{"text": ["step 1\n", "step 2"]}, {"data": {"text/html": ["<table><tr><td>1</td>"]}}]}]})",
      R"({"cells": [{"source": ["a"], "outputs": [{"ename": "E", "evalue": "v", "traceback": ["\u001b[0mE"]}]}]})",
      R"({"worksheets": [{"cells": [{"input": ["a"], "outputs": [{"text": ["step 1\n"], "html": "<td>1</td>"}]}]}]})",
      "<progress value='1'></progress> [1/2] <table><tr><th>Step</th></tr><style>x</style><!-- -->&lt;&#39;"};
}

void mw::fuzz_one(std::string_view input) {
  const Outcome whole = read_all(input, input.size() + 1), pieces = read_all(input, 1 + input.size() % 7);
  MW_CHECK(whole.text == pieces.text && whole.ok == pieces.ok);
  std::string text;
  append_html_text(input, text);
  MW_CHECK(text.size() <= 3 * input.size() + 1);
}
