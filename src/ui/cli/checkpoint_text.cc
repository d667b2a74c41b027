#include "ui/cli/checkpoint_text.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/one_of.h"
#include "base/text.h"
#include "ui/report/paint.h"

namespace mw {
namespace {

using Checkpoint = CheckpointsAnswer::Checkpoint;

constexpr size_t kProblemsShown = 12;  // of one checkpoint; --json has them all
constexpr size_t kHead = 14;           // cells before what is said
constexpr size_t kStore = 30;          // cells of a store's name in a table

std::string size_of(int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

std::string joined(const std::vector<std::string>& words, std::string_view between = ", ") {
  std::string out;
  for (const std::string& word : words) out += cat(out.empty() ? "" : between, word);
  return out;
}

std::string painted(const Painter& paint, const Checkpoint& one) {
  const std::string& state = one.tainted && one.state == "whole" ? "suspect" : one.state;
  std::string upper = state;
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  if (state == "whole") return paint.green(upper);
  if (state == "partial" || state == "corrupt") return paint.red(upper);
  return paint.yellow(upper);
}

/// Who reads a log counts in seconds.
std::string to_the_second(Time at) { return format_utc({at.ns - at.ns % 1'000'000'000}); }

bool is_good(const Checkpoint& one) { return (one.state == "whole" && !one.tainted) || one.state == "foreign"; }

std::string line(const Painter& paint, std::string_view head, std::string_view text, Painter::Colour colour = nullptr) {
  return paint.hanging(cat("  ", pad(head, kHead)), text, 6, nullptr, colour);
}

std::string names_of(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  names.reserve(paths.size());
  for (const std::string& path : paths) names.push_back(escape_terminal(basename(path)));
  return joined(names);
}

std::string counted_text(const Checkpoint& one) {
  return cat("; ", one.counted.files, " files of its optimizer count the same steps, ", one.counted.steps);
}

std::string checked_text(const Checkpoint& one) {
  std::string out;
  if (one.depth == "structural") {
    out = "structural: names, sizes, headers, directories";
    if (!one.beside.empty()) out += cat("; samples of its weights against ", names_of(one.beside));
    if (one.counted.files > 0) out += counted_text(one);
    out += ". --deep reads every byte";
  } else {
    const std::string read = size_of(static_cast<int64_t>(one.deep.bytes));
    const bool all = static_cast<int64_t>(one.deep.bytes) >= one.bytes;
    out = cat(all ? cat("all ", read) : cat(read, " of ", size_of(one.bytes)), ": checksums; ", one.deep.tensors,
              " tensors, norm ", format_short(one.deep.norm), ", ", one.deep.not_finite, " NaN or infinite, ",
              one.deep.zero_tensors, " all zero");
    if (one.counted.files > 0) out += counted_text(one);
  }
  out += cat(" (", format_duration(Duration::seconds(one.seconds)), ")");
  if (one.compared) out += cat("; compared with the sizes and checksums recorded at ", to_the_second(one.verified_at));
  return out;
}

std::string resume_text(const Checkpoint& one) {
  if (one.resumable == "yes")
    return cat("yes: ", joined(one.there), one.there.size() == 1 ? " is there" : " are there");
  if (one.resumable == "unknown")
    return one.state == "unknown" ? "not known: not all of it could be read" : "not known: its framework is not";
  if (one.state == "writing") return "not known yet: it is being written";
  if (one.state != "whole" && one.state != "suspect") return "no";
  if (one.there.empty() || !one.lacks.empty())
    return one.lacks.empty() ? "no: weights alone"
                             : cat("no: ", joined(one.lacks), one.lacks.size() == 1 ? " is missing" : " are missing");
  return "no: without an optimizer";
}

std::string problems_text(const Painter& paint, const Checkpoint& one) {
  std::string out;
  size_t shown = 0;
  for (const CheckpointsAnswer::Problem& problem : one.problems) {
    if (shown++ >= kProblemsShown) break;
    const std::string where = problem.path.empty() ? "" : cat(problem.path, ": ");
    out += line(paint, problem.trouble, cat(where, problem.what), problem.breaks ? &Painter::red : &Painter::dim);
  }
  if (one.problems_in_all > shown)
    out += line(
        paint, "",
        cat("… and ", one.problems_in_all - std::min<uint64_t>(shown, one.problems_in_all), " more (--json has them)"));
  return out;
}

/// Whole, and of other shapes than those beside it: one of them may be another model's. Or with a file from the time of
/// one beside it, or a text that somebody mended.
bool is_unlike(const CheckpointsAnswer::Problem& problem) {
  const bool other = problem.trouble == "other-time" && contains(problem.what, "with the files of");
  const bool mended = problem.trouble == "changed" && problem.depth == "content";
  return (problem.trouble == "unlike" || other || mended) && !problem.breaks;
}
bool has_unjudged(const Checkpoint& one) { return one.deep.unjudged_bytes > 0; }
bool has_unlike(const Checkpoint& one) { return std::any_of(one.problems.begin(), one.problems.end(), is_unlike); }

std::string full(const Painter& paint, const Checkpoint& one) {
  const std::string state = painted(paint, one);
  std::string out = cat(state, "  ", escape_terminal(one.path), "\n");
  std::string what = one.framework.empty() ? "framework not known" : one.framework;
  if (!one.layouts.empty()) what += cat(" · ", joined(one.layouts));
  if (one.step != kNoStep) what = cat("step ", one.step, " · ", what);
  what += cat(" · ", one.files, one.files == 1 ? " file, " : " files, ", size_of(one.bytes));
  if (one.newest.known()) what += cat(" · written ", to_the_second(one.newest));
  out += paint.hanging("  ", what, 4);
  out += problems_text(paint, one);
  if (!one.depth.empty()) out += line(paint, "checked", checked_text(one));  // else nothing could be looked at
  out += line(paint, "resumable", resume_text(one));
  if (one.tainted)
    out += line(paint, "suspect", "it was saved since the trouble of this run began (midwatch incidents)",
                &Painter::yellow);
  for (const std::string& note : one.notes) out += line(paint, "note", note);
  if (!one.manifest.empty()) out += line(paint, "kept", cat("checksums of its files in ", one.manifest));
  return out;
}

/// Whole, and nothing is missing in it that a resume needs and an older one has.
bool may_resume(const Checkpoint& one) { return is_good(one) && !one.unresumable; }

std::string nowhere_text(const std::vector<Checkpoint>& all, const Painter& paint) {
  const auto other = std::find_if(all.rbegin(), all.rend(),
                                  [](const Checkpoint& one) { return may_resume(one) && one.resumable == "yes"; });
  if (other != all.rend()) {
    return paint.hanging(
        "", cat("No whole checkpoint is beside it to resume from. ", other->path, " is whole: of the same run?"), 4);
  }
  const auto unnumbered = std::find_if(all.rbegin(), all.rend(),
                                       [](const Checkpoint& one) { return one.step == kNoStep && may_resume(one); });
  if (unnumbered != all.rend()) {
    return paint.hanging("",
                         cat("Which of these are older cannot be seen from their names, so none is named to resume "
                             "from; ",
                             escape_terminal(unnumbered->path), " is whole."),
                         4);
  }
  return paint.hanging(
      "",
      "No whole checkpoint is beside it to resume from: what was shipped elsewhere comes with midwatch "
      "checkpoint pull.",
      4);
}

/// What a person does now.
std::string resume_from_text(const Painter& paint, const CheckpointsAnswer& answer) {
  const std::vector<Checkpoint>& all = answer.checkpoints;
  if (std::all_of(all.begin(), all.end(), may_resume)) {
    const auto whole =
        std::count_if(all.begin(), all.end(), [](const Checkpoint& one) { return one.state == "whole"; });
    const bool deep =
        std::all_of(all.begin(), all.end(), [](const Checkpoint& one) { return one.depth != "structural"; });
    if (whole < 2) return "";
    if (std::any_of(all.begin(), all.end(), has_unlike)) {
      return paint.hanging("",
                           deep ? cat("No byte of these ", whole, " is damaged; in what they differ stands above.")
                                : cat("Nothing is broken in the structure of these ", whole,
                                      ", and they differ as stands above; midwatch checkpoint verify --deep reads "
                                      "every byte."),
                           4);
    }
    return paint.hanging("",
                         deep && std::any_of(all.begin(), all.end(), has_unjudged)
                             ? cat("Nothing wrong was found in these ", whole,
                                   "; which of their numbers could not be judged stands above.")
                         : deep ? cat("Nothing is wrong in any byte of these ", whole, ".")
                                : cat("Nothing is wrong with the structure of these ", whole,
                                      "; midwatch checkpoint verify --deep reads every byte."),
                         4);
  }
  if (answer.resume_from.path.empty()) return nowhere_text(all, paint);
  const Checkpoint& back = answer.resume_from;
  std::string how = "whole by its structure";
  if (back.depth != "structural") how = "every byte was read now";
  if (back.depth == "structural" && back.verified_at.known())
    how += cat("; every byte was read at ", to_the_second(back.verified_at));
  if (back.resumable == "no") how += "; not resumable";
  std::string out = paint.hanging(
      "Resume from ", cat(back.path, " (", back.step == kNoStep ? "" : cat("step ", back.step, ", "), how, ")"), 4);
  for (const Checkpoint& part : answer.resume_with) {
    out += paint.hanging(
        "  together with ",
        cat(part.path, " (the same step, ", part.depth == "structural" ? "whole by its structure" : "whole", ")"), 4);
  }
  // Not broken into lines: what is in it is copied into a command.
  for (const std::string& note : back.notes) out += cat("  ", escape_terminal(note), "\n");
  return out;
}

/// A store's name begins with what kind it is and ends with whose it is.
std::string short_place(const std::string& place) {
  constexpr size_t kBegin = 8;
  if (place.size() <= kStore) return place;
  size_t from = place.size() - (kStore - kBegin - 1), begin = kBegin;
  const auto inside = [&place](size_t at) { return (static_cast<unsigned char>(place[at]) & 0xC0U) == 0x80U; };
  while (from < place.size() && inside(from)) ++from;
  while (begin > 0 && inside(begin)) --begin;
  return cat(place.substr(0, begin), "…", place.substr(from));
}

/// Where it is shipped; why not, where it is not.
std::string store_cell(const Checkpoint& one) {
  if (one.shipped.empty()) return "–";
  return one.shipped == "shipped" && !one.store.empty() ? short_place(one.store) : one.shipped;
}

size_t store_width(const std::vector<Checkpoint>& all) {
  size_t width = 0;
  for (const Checkpoint& one : all) {
    if (!one.shipped.empty()) width = std::max({width, size_t{8}, std::min(kStore, store_cell(one).size())});
  }
  return width == 0 ? 0 : width + 2;
}

/// `store`: cells of the column that says where it is shipped; 0: there is none.
std::string row(const Checkpoint& one, const Painter& paint, size_t width, size_t store) {
  const std::string read = one.depth != "structural" && !one.depth.empty() ? "now"
                           : one.verified_at.known()
                               ? cat(format_utc(one.verified_at).substr(0, 16),
                                     one.verified_state == "whole" ? "" : cat(" ", one.verified_state))
                               : "–";
  const std::string& state = one.tainted && one.state == "whole" ? "suspect" : one.state;
  std::string text = cat(pad(one.step == kNoStep ? "–" : cat(one.step), 7, true), "  ", pad(state, 8),
                         pad(one.resumable, 8), pad(size_of(one.bytes), 8, true), "  ", column(read, 17),
                         store > 0 ? column(store_cell(one), store) : "", joined(one.layouts));
  text = cat("  ", fit(escape_terminal(text), width - 2), "\n");
  if (state == "whole") return text;
  return paint.of(state == "partial" || state == "corrupt" ? Severity::kCritical : Severity::kWarning, text);
}

/// All that training changes in it is another step's.
bool is_copy(const Checkpoint& one) {
  return !one.problems.empty() && one.problems.front().trouble == "same-bytes" && one.problems.front().path.empty();
}

/// The first thing that breaks it, or that it is another one's copy, in one line.
std::string reason(const Painter& paint, const Checkpoint& one) {
  if (one.problems.empty() || (!one.problems.front().breaks && !is_copy(one))) return "";
  const CheckpointsAnswer::Problem& first = one.problems.front();
  return paint.hanging("           ", cat(first.path.empty() ? "" : cat(first.path, ": "), first.what), 2);
}

/// Does its name say the step, and nothing else by which it differs from another one ("checkpoint-30.bak")?
bool says_step(std::string_view name, int64_t step) {
  constexpr std::array<std::string_view, 6> kTails = {"", ".pt", ".pth", ".ckpt", ".bin", ".safetensors"};
  const std::string digits = cat(step);
  const size_t at = name.rfind(digits);
  return step != kNoStep && at != std::string_view::npos && is_one_of(name.substr(at + digits.size()), kTails);
}

std::string table(const std::vector<Checkpoint>& all, const Painter& paint, bool reasons) {
  std::string out, folder;
  const size_t store = store_width(all);
  for (const Checkpoint& one : all) {
    const std::string above = folder_of(one.path);
    if (above != folder || out.empty()) {
      folder = above;
      out += cat(
          escape_terminal(folder), "\n",
          paint.dim(fit(cat("  ", pad("STEP", 7, true), "  ", pad("STATE", 8), pad("RESUMES", 8), pad("SIZE", 8, true),
                            "  ", pad("EVERY BYTE READ", 17), store > 0 ? pad("STORE", store) : "", "LAYOUT"),
                        paint.width())),
          "\n");
    }
    out += row(one, paint, paint.width(), store);
    if (!says_step(basename(one.path), one.step)) out += paint.hanging("           ", basename(one.path), 2);
    if (reasons) out += reason(paint, one);
  }
  return out;
}

/// By the run's own rules, before they do it.
std::string removable_text(const std::vector<Checkpoint>& all, const Painter& paint) {
  std::string steps;
  size_t count = 0;
  int64_t bytes = 0;
  for (const Checkpoint& one : all) {
    if (one.removable.empty()) continue;
    ++count;
    bytes += one.bytes;
    steps += cat(steps.empty() ? "" : ", ", one.step == kNoStep ? escape_terminal(basename(one.path)) : cat(one.step));
  }
  if (count == 0) return "";
  return line(paint, "removable",
              cat("by [retention]: ", count == 1 ? "step " : "steps ", steps, ", ", size_of(bytes)));
}

/// What stays whatever those rules say.
std::string staying_text(const std::vector<Checkpoint>& all, const Painter& paint) {
  std::string out;
  for (const Checkpoint& one : all) {
    if (one.stays.empty()) continue;
    out +=
        line(paint, "stays",
             cat(one.step == kNoStep ? escape_terminal(basename(one.path)) : cat("step ", one.step), ": ", one.stays));
  }
  return out;
}

/// What is said of those that are whole: of the newest of a folder, since a resume would take it.
std::string notes_of_newest(const std::vector<Checkpoint>& all, const Painter& paint) {
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool newest = i + 1 == all.size() || folder_of(all[i + 1].path) != folder_of(all[i].path);
    if (!newest || !is_good(all[i])) continue;
    for (const std::string& note : all[i].notes) {
      const bool known = all[i].step != kNoStep;
      out += line(paint, known ? cat("step ", all[i].step) : escape_terminal(basename(all[i].path)), note);
    }
  }
  return out;
}

/// In what whole ones differ from those beside them.
std::string unlike_ones(const std::vector<Checkpoint>& all, const Painter& paint) {
  std::string out;
  for (const Checkpoint& one : all) {
    const auto first = std::find_if(one.problems.begin(), one.problems.end(), is_unlike);
    if (!is_good(one) || first == one.problems.end()) continue;
    const bool known = one.step != kNoStep;
    out += line(paint, known ? cat("step ", one.step) : escape_terminal(basename(one.path)),
                cat(first->path.empty() ? "" : cat(first->path, ": "), first->what));
  }
  return out;
}

// ---- JSON

void put_words(JsonWriter& json, std::string_view key, const std::vector<std::string>& words) {
  json.key(key).begin_array();
  for (const std::string& word : words) json.string(word);
  json.end_array();
}

void put_problems(JsonWriter& json, const Checkpoint& one) {
  json.key("problems").begin_array();
  for (const CheckpointsAnswer::Problem& problem : one.problems) {
    json.begin_object().key("trouble").string(problem.trouble).key("depth").string(problem.depth);
    json.key("path")
        .string(problem.path)
        .key("what")
        .string(problem.what)
        .key("breaks")
        .boolean(problem.breaks)
        .end_object();
  }
  json.end_array().key("problems_in_all").integer(static_cast<int64_t>(one.problems_in_all));
}

void put_checkpoint(JsonWriter& json, const Checkpoint& one) {
  json.begin_object().key("path").string(one.path).key("state").string(one.state);
  json.key("resumable").string(one.resumable);
  json.key("step");
  one.step == kNoStep ? json.null() : json.integer(one.step);
  json.key("framework").string(one.framework);
  put_words(json, "layouts", one.layouts);
  json.key("depth").string(one.depth).key("files").integer(one.files).key("bytes").integer(one.bytes);
  json.key("written_at").string(format_utc(one.newest)).key("tainted").boolean(one.tainted);
  json.key("unresumable")
      .boolean(one.unresumable)
      .key("unnamed")
      .boolean(one.unnamed)
      .key("removable")
      .string(one.removable);
  json.key("stays").string(one.stays);
  put_problems(json, one);
  put_words(json, "beside", one.beside);
  json.key("optimizer_steps");
  if (one.counted.files == 0) {
    json.null();
  } else {
    json.begin_object().key("files").integer(one.counted.files).key("steps").integer(one.counted.steps).end_object();
  }
  put_words(json, "notes", one.notes);
  put_words(json, "there", one.there);
  put_words(json, "lacks", one.lacks);
  json.key("verified_at").string(format_utc(one.verified_at)).key("verified_state").string(one.verified_state);
  json.key("shipped").string(one.shipped).key("store").string(one.store);
  json.key("compared").boolean(one.compared).key("manifest").string(one.manifest);
  if (one.depth == "sane") {
    json.key("deep").begin_object().key("bytes").integer(static_cast<int64_t>(one.deep.bytes));
    json.key("tensors")
        .integer(static_cast<int64_t>(one.deep.tensors))
        .key("numbers")
        .integer(static_cast<int64_t>(one.deep.numbers));
    json.key("not_finite").integer(static_cast<int64_t>(one.deep.not_finite));
    json.key("zero_tensors")
        .integer(static_cast<int64_t>(one.deep.zero_tensors))
        .key("norm")
        .number(one.deep.norm)
        .key("unjudged_bytes")
        .integer(static_cast<int64_t>(one.deep.unjudged_bytes))
        .end_object();
  }
  json.key("seconds").number(one.seconds).end_object();
}

}  // namespace

std::string checkpoints_json(const CheckpointsAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.checkpoints/1").key("run").string(answer.run);
    json.key("checkpoints").begin_array();
    for (const Checkpoint& one : answer.checkpoints) put_checkpoint(json, one);
    json.end_array().key("resume_from");
    answer.resume_from.path.empty() ? json.null() : json.string(answer.resume_from.path);
    json.key("resume_with").begin_array();
    for (const Checkpoint& part : answer.resume_with) json.string(part.path);
    json.end_array();
    json.key("resume_from_step");
    answer.resume_from.path.empty() || answer.resume_from.step == kNoStep ? json.null()
                                                                          : json.integer(answer.resume_from.step);
    json.end_object();
  }
  return out + "\n";
}

std::string checkpoints_list(const CheckpointsAnswer& answer, const Console& console) {
  const Painter paint(console);
  std::string out = answer.run.empty() ? "" : cat("Checkpoints of ", escape_terminal(answer.run), "\n");
  if (answer.checkpoints.empty()) return out + "No checkpoint is where the run says that it saves.\n";
  return out + table(answer.checkpoints, paint, true) + removable_text(answer.checkpoints, paint) +
         staying_text(answer.checkpoints, paint) + unlike_ones(answer.checkpoints, paint) +
         notes_of_newest(answer.checkpoints, paint) + resume_from_text(paint, answer);
}

std::string checkpoints_verified(const CheckpointsAnswer& answer, const Console& console) {
  const Painter paint(console);
  if (answer.checkpoints.empty()) return "No checkpoint is where the run says that it saves.\n";
  std::string out;
  const bool many = answer.checkpoints.size() > 1;
  if (many) out = table(answer.checkpoints, paint, false) + "\n";
  for (const Checkpoint& one : answer.checkpoints) {
    if (!many || one.state != "whole" || one.tainted || is_copy(one)) out += full(paint, one);
  }
  if (many) out += unlike_ones(answer.checkpoints, paint) + notes_of_newest(answer.checkpoints, paint);
  return out + resume_from_text(paint, answer);
}

}  // namespace mw
