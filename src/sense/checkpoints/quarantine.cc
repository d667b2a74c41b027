#include "sense/checkpoints/quarantine.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/json.h"
#include "base/text.h"
#include "platform/durable.h"
#include "sense/checkpoints/find.h"

namespace mw {
namespace {

constexpr size_t kPointerBytes = 4096;

void put_text(JsonWriter& json, std::string_view key, const std::optional<std::string>& text) {
  json.key(key);
  text ? json.string(*text) : json.null();
}

std::optional<std::string> text_of(const Json& json, std::string_view key) {
  const Json* text = json.find(key);
  if (text == nullptr || !text->is_string()) return std::nullopt;
  return text->string();
}

/// A name of one thing, or two ("a/b"), that leads nowhere else.
bool is_below(const std::string& name) {
  return !name.empty() && name.front() != '/' && name != ".." && !name.starts_with("../") && !contains(name, "/../") &&
         !name.ends_with("/..");
}

/// Does it lie where what is moved out of that root may lie?
bool is_place_of(const std::string& root, const std::string& to) {
  if (!to.starts_with("../")) return is_below(to);
  const auto beside = own_folder_beside(root, kQuarantineFolder);
  const std::string place = beside ? cat("../", beside->name, "/") : "";
  return beside && to.starts_with(place) && is_below(to.substr(place.size()));
}

class Mover {
 public:
  Mover(Disk& disk, const CheckpointLayout& layout, const QuarantinePlan& plan, QuarantineManifest manifest,
        const KeepManifest& elsewhere)
      : disk_(disk), layout_(layout), plan_(plan), manifest_(std::move(manifest)), elsewhere_(elsewhere) {}

  Result<Quarantined> move() {
    Quarantined done;
    done.kept = plan_.keep;
    MW_TRY(reattach());
    if (manifest_.restored) return done;
    MW_TRY(look());
    const auto wanted = wants_pointer();
    if (!wanted.ok()) return wanted.error();
    const bool pointer = *wanted;
    const size_t known = manifest_.links.size();
    find_links();
    if (manifest_.items.empty() && manifest_.links.empty() && !pointer) return done;
    MW_TRY(choose());
    done.folder = folder();
    done.exposed = exposed_;
    name_places(known);
    MW_TRY(keep_manifest(done));
    // The pointer first: cut short here, it names a whole checkpoint that is there.
    if (pointer) MW_TRY(set_pointer(done));
    set_links(done);
    for (size_t i = due_.size(); i-- > 0;) {
      const QuarantineManifest::Item& item = manifest_.items[due_[i].second];
      MW_TRY(disk_.rename(cat(plan_.root, "/", item.name), path_seen_from(plan_.root, item.to)));
      done.moved.insert(done.moved.begin(), due_[i].first);
    }
    return done;
  }

 private:
  /// What was begun before.
  Result<void> reattach() {
    for (const OwnFolder& place : quarantine_places(plan_.root)) {
      const std::string folder = cat(place.path(), "/", plan_.label);
      auto before = find_manifest(disk_, folder, manifest_.run_folder);
      if (!before.ok() && before.error().code == Error::Code::kNotFound) continue;
      if (!before.ok()) return before.error();
      if (before->run_folder != manifest_.run_folder || before->attempt != manifest_.attempt)
        return Error{Error::Code::kInvalid, cat(folder, " is another run's"), ""};
      manifest_ = std::move(*before);
      place_ = place;
      if (layout_.takes_any_folder && !place.beside) exposed_ = "it was begun there";
      return {};
    }
    return {};
  }

  /// Where it is to lie: where it was begun.
  Result<void> choose() {
    if (place_) return disk_.make_folders(folder());
    auto chosen = choose_own_folder(disk_, layout_, plan_.root, kQuarantineFolder, plan_.label);
    if (!chosen.ok()) return chosen.error();
    place_ = std::move(chosen->folder);
    exposed_ = std::move(chosen->trouble);
    return {};
  }

  std::string folder() const { return cat(place_->path(), "/", plan_.label); }
  /// As the manifest has what gets that name there.
  std::string place_of(std::string_view name) const { return seen_from_root(*place_, cat(plan_.label, "/", name)); }

  /// Of all that is still to move; `known`: links that the manifest had before.
  void name_places(size_t known) {
    for (const auto& due : due_) {
      QuarantineManifest::Item& item = manifest_.items[due.second];
      item.to = place_of(item.name);
      for (int n = 2; disk_.info(path_seen_from(plan_.root, item.to)).ok(); ++n)
        item.to = place_of(cat(item.name, ".", n));
    }
    for (size_t i = known; i < manifest_.links.size(); ++i) {
      PointerLink& link = manifest_.links[i];
      if (!link.to.empty()) link.to = place_of(link.to);
    }
  }

  /// Beside what is moved; where that disk is full, with the run's own record. A rename needs no space.
  Result<void> keep_manifest(Quarantined& done) {
    const std::string path = cat(folder(), "/", kManifestFile);
    auto written = write_durably(disk_, path, manifest_text(manifest_));
    if (written.ok()) {
      // One that a full disk had kept away before would be read no more.
      (void)disk_.remove(manifest_elsewhere(manifest_.run_folder, folder())).ok();
      return written;
    }
    if (written.error().code != Error::Code::kFull || !elsewhere_) return written;
    (void)disk_.remove(cat(path, ".part")).ok();
    const std::string other = manifest_elsewhere(manifest_.run_folder, folder());
    if (!elsewhere_(other, manifest_text(manifest_)).ok()) return written;
    done.manifest = other;
    return {};
  }

  /// Which of the plan's things are still where they were.
  Result<void> look() {
    for (const QuarantinePlan::Item& item : plan_.items) {
      const std::string name = with_step(layout_.folder, item.step);
      const auto info = disk_.info(cat(plan_.root, "/", name));
      if (!info.ok()) {
        if (info.error().code == Error::Code::kNotFound) continue;  // moved, or gone
        return info.error();
      }
      const bool same =
          item.identity.inode == 0 || (info->inode == item.identity.inode && info->device == item.identity.device);
      if (!same) continue;
      auto known = std::find_if(manifest_.items.begin(), manifest_.items.end(),
                                [&name](const auto& one) { return one.name == name; });
      if (known == manifest_.items.end()) known = manifest_.items.insert(known, {name, "", item.identity});
      due_.emplace_back(item.step, static_cast<size_t>(known - manifest_.items.begin()));
    }
    return {};
  }

  /// While it names what is moved, or what is not there, or is missing.
  Result<bool> wants_pointer() {
    if (!plan_.set_pointer || layout_.pointer.empty()) return false;
    const auto asked = ask_pointer(disk_, plan_.root, layout_);
    if (!asked.ok()) return asked.error();
    const auto& text = *asked;
    if (!text && plan_.keep == kNoStep) return false;
    const auto step = text ? step_in(layout_.pointer_text, *text) : std::nullopt;
    const bool moves = step && std::any_of(plan_.items.begin(), plan_.items.end(),
                                           [&step](const QuarantinePlan::Item& item) { return item.step == *step; });
    const bool misled = text && !plan_.misled.empty() && *text == plan_.misled;
    if (text && !moves && !misled && !pointer_dangles(disk_, plan_.root, layout_)) return false;
    if (manifest_.pointer.empty()) manifest_.pointer = layout_.pointer;
    if (text && !manifest_.pointer_before && !manifest_.pointer_after) {
      auto exact = read_small(disk_, cat(plan_.root, "/", layout_.pointer));
      if (!exact.ok()) return exact.error();
      manifest_.pointer_before = std::move(*exact);
    }
    manifest_.pointer_after.reset();
    if (plan_.keep != kNoStep) manifest_.pointer_after = with_step(layout_.pointer_text, plan_.keep);
    return true;
  }

  Result<void> set_pointer(Quarantined& done) {
    const std::string path = cat(plan_.root, "/", layout_.pointer);
    done.pointer = path;
    done.pointer_before = trim(manifest_.pointer_before.value_or(""));
    done.pointer_missed = !manifest_.pointer_before;
    done.pointer_after = manifest_.pointer_after;
    if (manifest_.pointer_after) return write_durably(disk_, path, *manifest_.pointer_after);
    return disk_.rename(path, cat(folder(), "/", layout_.pointer));
  }

  /// Which lead to what is moved, or to what was there when that was planned and is gone by now.
  void find_links() {
    std::set<std::string> targets;
    for (const QuarantinePlan::Item& item : plan_.items) {
      std::string name = with_step(layout_.folder, item.step);
      const bool moves =
          std::any_of(due_.begin(), due_.end(), [&item](const auto& due) { return due.first == item.step; });
      const auto info = disk_.info(cat(plan_.root, "/", name));
      if (moves || (!info.ok() && info.error().code == Error::Code::kNotFound)) targets.insert(std::move(name));
    }
    const std::string newest = plan_.keep == kNoStep ? "" : with_step(layout_.folder, plan_.keep);
    const bool none = is_none_left();
    for (PointerLink& link : links_to(disk_, plan_.root, targets, newest)) {
      const bool known = std::any_of(manifest_.links.begin(), manifest_.links.end(),
                                     [&link](const PointerLink& one) { return one.name == link.name; });
      if (known) continue;
      const bool above = link.name.find('/') != std::string::npos;
      if (none && !link.certain)
        link.to = cat(above ? "link-above-" : "link-", basename(link.name));  // in the place that is chosen later
      manifest_.links.push_back(std::move(link));
    }
  }

  /// A trainer that finds neither a checkpoint nor a link begins anew; at a link that leads to nothing it ends.
  bool is_none_left() {
    if (plan_.keep != kNoStep) return false;
    const auto steps = checkpoint_steps(disk_, plan_.root, layout_);
    return steps.ok() && std::all_of(steps->begin(), steps->end(), [this](int64_t step) {
             return std::any_of(due_.begin(), due_.end(), [step](const auto& due) { return due.first == step; });
           });
  }

  /// A link comes after the one that it leads to.
  void set_links(Quarantined& done) {
    std::set<std::string> leads;  // names of those that lead to what is kept now
    for (const PointerLink& link : manifest_.links) {
      Quarantined::Link out{path_of_link(plan_.root, link), link.before, link.after, "", link.to, link.mend, ""};
      if (!link.to.empty()) {
        const auto now = disk_.read_link(out.path);
        if (!now.ok() || *now != link.before) continue;  // done before, or somebody set it meanwhile
        const auto done_so = disk_.rename(out.path, path_seen_from(plan_.root, link.to));
        if (!done_so.ok()) out.trouble = done_so.error().what;
      } else if (!link.through.empty()) {
        if (leads.count(link.through) == 0) continue;  // what is said of that one holds for this one, too
        out.through = path_of_link(plan_.root, {link.through, "", ""});
      } else if (link.after.empty()) {
        out.trouble = plan_.keep == kNoStep ? "none is left that it could lead to"
                      : link.mend.empty()   ? "there is no such file in the newest one"
                                            : "its name is that of one certain checkpoint, and it stays as it is";
      } else {
        const auto led = lead_link(disk_, out.path, link.before, link.after);
        if (led.ok() && !*led) continue;  // somebody set it meanwhile
        if (!led.ok()) out.trouble = led.error().what;
      }
      if (out.trouble.empty() && link.to.empty()) leads.insert(link.name);
      done.links.push_back(std::move(out));
    }
  }

  Disk& disk_;
  const CheckpointLayout& layout_;
  const QuarantinePlan& plan_;
  QuarantineManifest manifest_;
  const KeepManifest& elsewhere_;
  std::optional<OwnFolder> place_;
  std::string exposed_;
  std::vector<std::pair<int64_t, size_t>> due_;  // steps, and their places in the manifest
};

}  // namespace

bool pointer_dangles(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  const auto text = read_pointer(disk, root, layout);
  if (!text) return false;
  const auto step = step_in(layout.pointer_text, *text);
  const std::string named = step ? with_step(layout.folder, *step) : *text;
  if (named.empty()) return true;
  const auto is_gone = [&disk](const std::string& path) {
    const auto info = disk.info(path);
    return !info.ok() && info.error().code == Error::Code::kNotFound;
  };
  if (named.front() == '/') return is_gone(named);
  if (!contains(named, "/") || contains(cat("/", named, "/"), "/../")) return is_gone(cat(root, "/", named));
  // From where the trainer works; or what it ends with lies here, unless a number alone can stand in such a file.
  return leads_nowhere(disk, root, named) &&
         (layout.pointer_text == "{step}" || is_gone(cat(root, "/", basename(named))));
}

std::vector<OwnFolder> quarantine_places(const std::string& root) {
  std::vector<OwnFolder> places;
  if (auto beside = own_folder_beside(root, kQuarantineFolder)) places.push_back(std::move(*beside));
  for (const std::string_view folder : kQuarantineFolders) places.push_back(own_folder_in(root, folder));
  return places;
}

std::string manifest_text(const QuarantineManifest& manifest) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("run").string(manifest.run_folder);
    json.key("attempt").integer(manifest.attempt).key("at_ns").integer(manifest.at.ns);
    json.key("root").string(manifest.root).key("why").string(manifest.why).key("items").begin_array();
    for (const QuarantineManifest::Item& item : manifest.items) {
      json.begin_object().key("name").string(item.name).key("to").string(item.to);
      json.key("identity").string(identity_text(item.identity)).end_object();
    }
    json.end_array().key("pointer").string(manifest.pointer);
    put_text(json, "pointer_before", manifest.pointer_before);
    put_text(json, "pointer_after", manifest.pointer_after);
    json.key("links").begin_array();
    for (const PointerLink& link : manifest.links) {
      json.begin_object().key("name").string(link.name).key("before").string(link.before);
      json.key("after").string(link.after).key("to").string(link.to);
      json.key("mend").string(link.mend).key("through").string(link.through).end_object();
    }
    json.end_array();
    json.key("restored").boolean(manifest.restored).end_object();
  }
  return out;
}

Result<QuarantineManifest> parse_manifest(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  const Json* items = json->is_object() ? json->find("items") : nullptr;
  if (items == nullptr || !items->is_array()) return Error{Error::Code::kInvalid, "'items' is missing", ""};
  QuarantineManifest manifest;
  manifest.run_folder = json->string_or("run", "");
  manifest.attempt = static_cast<int>(json->integer_or("attempt", 0));
  manifest.at.ns = json->integer_or("at_ns", 0);
  manifest.root = json->string_or("root", "");
  manifest.why = json->string_or("why", "");
  for (const Json& item : items->items()) {
    if (!item.is_object()) return Error{Error::Code::kInvalid, "an item is no object", ""};
    QuarantineManifest::Item one{item.string_or("name", ""), item.string_or("to", ""),
                                 identity_in(item.string_or("identity", ""))};
    if (!is_below(one.name) || !is_place_of(manifest.root, one.to)) {
      return Error{Error::Code::kInvalid, "an item leads out of the folder of checkpoints", ""};
    }
    manifest.items.push_back(std::move(one));
  }
  manifest.pointer = json->string_or("pointer", "");
  if (!manifest.pointer.empty() && !is_below(manifest.pointer)) {
    return Error{Error::Code::kInvalid, "the pointer leads out of the folder of checkpoints", ""};
  }
  manifest.pointer_before = text_of(*json, "pointer_before");
  manifest.pointer_after = text_of(*json, "pointer_after");
  manifest.restored = json->boolean_or("restored", false);
  const Json* links = json->find("links");
  for (size_t i = 0; links != nullptr && links->is_array() && i < links->items().size(); ++i) {
    const Json& link = links->items()[i];
    if (!link.is_object() || !is_link_name(link.string_or("name", ""))) {
      return Error{Error::Code::kInvalid, "a link leads out of the folder of checkpoints", ""};
    }
    const std::string to = link.string_or("to", ""), through = link.string_or("through", "");
    if ((!to.empty() && !is_place_of(manifest.root, to)) || (!through.empty() && !is_link_name(through)))
      return Error{Error::Code::kInvalid, "a link leads out of the folder of checkpoints", ""};
    manifest.links.push_back({link.string_or("name", ""), link.string_or("before", ""), link.string_or("after", ""), to,
                              false, link.string_or("mend", ""), through});
  }
  return manifest;
}

std::string manifest_elsewhere(const std::string& run_folder, const std::string& folder) {
  return cat(run_folder, "/quarantine-", basename(folder), "-", hex_of(fnv1a(folder_of(folder))).substr(0, 8), ".json");
}

namespace {

/// Does it name what lies in the place of another root? The root that it says is what somebody wrote into it.
bool is_of_another_place(const QuarantineManifest& manifest, const std::string& folder) {
  const std::string place = cat("../", kQuarantineFolder, "/", basename(folder_of(folder)), "/");
  const auto leads = [&place](const std::string& to) { return to.starts_with("../") && !to.starts_with(place); };
  return std::any_of(manifest.items.begin(), manifest.items.end(), [&](const auto& one) { return leads(one.to); }) ||
         std::any_of(manifest.links.begin(), manifest.links.end(), [&](const auto& one) { return leads(one.to); });
}

}  // namespace

Result<QuarantineManifest> find_manifest(Disk& disk, const std::string& folder, const std::string& run_folder,
                                         std::string* place) {
  // The last is where a midwatch of before 2026-11-29 wrote one, for whichever root.
  const std::string paths[] = {cat(folder, "/", kManifestFile), manifest_elsewhere(run_folder, folder),
                               cat(run_folder, "/quarantine-", basename(folder), ".json")};
  for (const std::string& path : paths) {
    const auto text = read_small(disk, path);
    if (!text.ok() && text.error().code == Error::Code::kNotFound) continue;
    auto manifest = text.ok() ? parse_manifest(*text) : Result<QuarantineManifest>(text.error());
    const bool others = path == paths[2] && manifest.ok() && manifest->root != folder_of(folder_of(folder));
    if (manifest.ok() && is_of_another_place(*manifest, folder))
      return Error{Error::Code::kInvalid, cat(path, " names what lies elsewhere"), ""};
    if (place != nullptr) *place = path;
    if (!others) return manifest;
  }
  return Error{Error::Code::kNotFound, cat("there is no manifest for ", folder), ""};
}

Result<std::optional<std::string>> ask_pointer(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  if (layout.pointer.empty()) return std::optional<std::string>();
  auto file = disk.open_read(cat(root, "/", layout.pointer));
  if (!file.ok() && file.error().code == Error::Code::kNotFound) return std::optional<std::string>();
  if (!file.ok()) return file.error();
  std::string text;
  MW_TRY((*file)->read_at(0, kPointerBytes, text));
  return std::optional<std::string>(trim(text));
}

std::optional<std::string> read_pointer(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  auto text = ask_pointer(disk, root, layout);
  return text.ok() ? std::move(*text) : std::nullopt;
}

bool is_checkpoint_kind(const FileInfo& info, const CheckpointLayout& layout) {
  return (info.kind == FileInfo::Kind::kFolder && layout.names_folders()) ||
         (info.kind == FileInfo::Kind::kFile && layout.names_files());
}

Result<std::vector<int64_t>> checkpoint_steps(Disk& disk, const std::string& root, const CheckpointLayout& layout) {
  auto names = disk.list(root);
  if (!names.ok()) return names.error();
  std::vector<int64_t> steps;
  for (const std::string& name : *names) {
    const auto step = step_in(layout.folder, name);
    if (!step) continue;
    const auto info = disk.info(cat(root, "/", name));
    if (info.ok() && is_checkpoint_kind(*info, layout)) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Result<Quarantined> quarantine(Disk& disk, const CheckpointLayout& layout, const QuarantinePlan& plan,
                               const QuarantineManifest& of, const KeepManifest& elsewhere) {
  const std::string& root = plan.root;
  if (root.empty() || root.find_first_not_of("/.") == std::string::npos || !is_step_pattern(layout.folder) ||
      plan.label.empty() || plan.label.find('/') != std::string::npos || plan.label.front() == '.') {
    return Error{Error::Code::kInvalid, cat("'", root, "' is no folder of checkpoints"), ""};
  }
  const auto there = disk.list(root);
  if (!there.ok()) return there.error();
  QuarantineManifest manifest = of;
  manifest.root = root;
  return Mover(disk, layout, plan, std::move(manifest), elsewhere).move();
}

}  // namespace mw
