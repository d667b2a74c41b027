#include "read/interpret/code_call.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/text.h"

namespace mw {
namespace {

std::string named(std::string_view code) {
  CodeCall call;
  for (const std::string_view line : split(code, '\n')) call.read(line);
  return call.name();
}

TEST_CASE("code is named by the first function of a tool that it calls") {
  CHECK(named("import gget\nhits = advanced_web_search('TP53')\nfor g in genes:\n    print(query_ensembl(g))") ==
        "advanced_web_search");
  CHECK(named("for g in genes:\n  out.append( query_clinvar (g))") == "query_clinvar");
  CHECK(named("from biomni.tool.database import (\n    query_clinvar,\n    query_gwas)\nx = query_gwas(1)") ==
        "query_gwas");
  CHECK(named("print(f\"{g}: {query_ensembl(g)}\")") == "query_ensembl");
  CHECK(named("try: r = await blast(s)\nexcept Exception as e: print(e)") == "blast");
}

TEST_CASE("a module's function counts where the code imports the module, behind plain ones") {
  CHECK(named("import gget, os\nr = gget.info(genes)") == "gget.info");
  CHECK(named("import gget\nr = gget.info(genes)\nquery_clinvar(r)") == "query_clinvar");
  CHECK(named("import pandas as pd\nimport Bio.Entrez as E\npd.read_csv('a')\nE.efetch(db='snp')") == "E.efetch");
  CHECK(named("from Bio import Entrez\nEntrez.efetch(db='snp')") == "Entrez.efetch");
  CHECK(named("try:\n  import gget\nexcept ImportError:\n  gget = None\ngget.info(1)") == "gget.info");
}

TEST_CASE("what the code defines, Python's own and methods are no tools") {
  for (const char* code : {"",
                           "print(len(x))",
                           "def f(x):\n  return x\nf(1)",
                           "class A(B):\n  pass\nA()",
                           "f = lambda x: x\nf(1)",
                           "df.groupby('a').apply(run)",
                           "x.load(1)",
                           "rows[0].load(1)",
                           "'a'.join(b)",
                           "import numpy as np\nnp.dot(a, b)",
                           "from collections import defaultdict as dd\ndd(list)",
                           "from math import (sqrt,\n  comb)\ncomb(3, 2)",
                           "def each(call, rows):\n  return [call(r) for r in rows]",
                           "for f in fs:\n  f(1)",
                           "with a as f:\n  f(1)",
                           "# query_ensembl(g)",
                           "'''\nquery_ensembl(g)\n'''",
                           "s = \"query_ensembl(g)\"",
                           "@cached(3)\ndef f(): pass",
                           "#!R\nlibrary(dplyr)",
                           "#!BASH\nrun(1)",
                           "\xE5\x87\xBD\xE6\x95\xB0(1)",
                           "if (a) and (b): return (c)",
                           "print(f\"{{query_ensembl(g)}}\")",
                           "Counter(x)",
                           "x.f('a",
                           "((((",
                           "'''",
                           "a.",
                           ".",
                           "1e5(2)"}) {
    CAPTURE(std::string(code));
    CHECK(named(code).empty());
  }
}

TEST_CASE("a default's name is no definition where a call passes it on") {
  CHECK(named("search(\n    query=query(1),\n)") == "search");
  CHECK(named("print(\n    query=query(1),\n)") == "query");
}

TEST_CASE("names of code are bounded") {
  CHECK(named(std::string(CodeCall::kNameBytes, 'a') + "(1)").size() == CodeCall::kNameBytes);
  CHECK(named(std::string(CodeCall::kNameBytes + 1, 'a') + "(1)").empty());
  CHECK(named(std::string(CodeCall::kLineBytes, ' ') + "search(1)").empty());
}

}  // namespace
}  // namespace mw
