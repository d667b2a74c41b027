#include "app/start_shipped.h"

#include <algorithm>
#include <tuple>

#include "act/vault/catalogue.h"
#include "app/harbour.h"
#include "app/ship_beside.h"
#include "app/store_mark.h"
#include "app/store_runs.h"
#include "base/digest.h"
#include "base/text.h"
#include "platform/real/posix_disk.h"
#include "sense/fingerprint/fingerprint.h"

namespace mw {
namespace {

constexpr size_t kFingerprintBytes = size_t{4} << 20;  // what is kept of one is far less
constexpr size_t kPassedOver = 8;                      // that are named one by one

/// A machine that begins unattended must not take a share that is not mounted for an empty store.
Result<void> must_be_mounted(Disk& disk, const std::string& place) {
  const std::string path = contains(place, "://") ? place : absolute_path(place);
  const std::string unmounted = looks_unmounted(disk, path);
  if (unmounted.empty()) return {};
  return Error{
      Error::Code::kNotFound, cat("there is no store at ", path, ": ", unmounted),
      cat("Is the share mounted here? To begin from scratch with a new store, make its folder first: mkdir -p ", path)};
}

/// What another training of the same command saved, in a folder of its own, comes behind all of the one of which latest
/// names the newest. Of one step what latest names comes first.
void sort_by_training(const vault::CheckpointManifest& latest, std::vector<vault::CheckpointManifest>& whole) {
  const auto below = [](const vault::CheckpointManifest& one) {
    const std::string folder = fact(one.run, kBelowFact);
    return folder == "." ? "" : folder;
  };
  const std::string own = below(latest);
  const auto is_others = [&](const vault::CheckpointManifest& one) {
    const std::string folder = below(one);
    return !own.empty() && !folder.empty() && folder != own;
  };
  std::stable_sort(whole.begin(), whole.end(), [&](const auto& a, const auto& b) {
    return std::tuple(is_others(a), -a.step, a.id != latest.id) < std::tuple(is_others(b), -b.step, b.id != latest.id);
  });
}

}  // namespace

std::string fact(const std::vector<std::pair<std::string, std::string>>& run, std::string_view name) {
  const auto found = std::find_if(run.begin(), run.end(), [name](const auto& one) { return one.first == name; });
  return found == run.end() ? "" : found->second;
}

Result<Shipped> shipped_in(Disk& disk, const StoreAddress& address) {
  MW_TRY(must_be_mounted(disk, address.place));
  const auto harbour = open_harbour(disk, address);
  if (!harbour.ok()) return harbour.error();
  const vault::VaultDoors doors = (*harbour)->doors(disk, address);
  auto found = vault::read_catalogue(doors, {(*harbour)->prefix}, true);
  if (!found.ok()) return found.error();
  Shipped out;
  out.notes = std::move(found->notes);
  if (found->pointer.back_in != 0) out.back = found->pointer.at;
  std::string why;
  vault::CheckpointManifest latest;
  for (vault::RemoteCheckpoint& one : found->checkpoints) {
    if (one.latest) latest = one.manifest;
    if (one.trouble.empty()) {
      out.whole.push_back(std::move(one.manifest));
    } else {
      why += cat(why.empty() ? "" : "; ", one.manifest.id, ": ", one.trouble);
      out.passed_over.emplace_back(one.manifest.step, cat(one.manifest.id, " is passed over: ", one.trouble, "."));
    }
  }
  sort_by_training(latest, out.whole);
  // What its trainer cannot resume from comes last, though it is whole: an export, or a save without its optimizer.
  const auto lacking =
      std::stable_partition(out.whole.begin(), out.whole.end(), [](const auto& one) { return one.lacks.empty(); });
  // So does, of the others, what nothing proves to be whole.
  const auto proven =
      std::stable_partition(out.whole.begin(), lacking, [](const auto& one) { return one.scanned == "whole"; });
  for (auto one = proven; one != lacking && proven != out.whole.begin(); ++one) {
    out.passed_over.emplace_back(one->step, cat(one->id, " is passed over: nothing proves that it is whole, and step ",
                                                out.whole.front().step, " is as far as its files prove it."));
  }
  if (found->checkpoints.empty()) {
    const std::string runs = named_runs_below(**harbour);
    if (!runs.empty()) return runs_lie_below(address.place, runs);
  }
  if (!out.whole.empty() || found->checkpoints.empty()) return out;
  return Error{Error::Code::kNotFound, cat("no checkpoint in ", address.place, " is whole: ", why),
               "midwatch checkpoint remote PLACE --check lists them. To begin from scratch, use an empty place."};
}

PullAnswer as_pulled(const vault::CheckpointManifest& manifest, const std::string& folder) {
  PullAnswer pulled;
  pulled.folder = folder;
  pulled.name = manifest.name;
  pulled.step = manifest.step;
  pulled.framework = manifest.framework;
  pulled.layout = manifest.layout;
  pulled.run = manifest.run;
  for (const std::string& part : manifest.beside)
    pulled.beside.push_back(vault::place_of(manifest, folder, cat(vault::kBeside, part)));
  return pulled;
}

void note_passed_over(const Shipped& shipped, StartAnswer& answer) {
  std::vector<std::string> notes = shipped.notes;
  const int64_t taken = answer.further ? answer.shipped : answer.pulled.step;
  size_t more = 0;
  for (const auto& [step, sentence] : shipped.passed_over) {
    if (step < taken) continue;
    notes.size() < kPassedOver ? notes.push_back(sentence) : static_cast<void>(++more);
  }
  if (more > 0)
    notes.push_back(cat(more, " more are passed over: midwatch checkpoint remote PLACE --check lists them."));
  for (const vault::CheckpointManifest& one : shipped.whole) {
    if (one.lacks.empty() || one.step < answer.pulled.step) continue;
    const bool taken_itself = one.step == answer.pulled.step && one.name == answer.pulled.name;
    notes.push_back(taken_itself
                        ? cat("Its trainer cannot resume from it: it lacks ", one.lacks, ".")
                        : cat(one.id, " was passed over: nothing can resume from it, as it lacks ", one.lacks, "."));
  }
  for (std::string& note : answer.pulled.notes) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
  }
  answer.pulled.notes = std::move(notes);
}

std::string fingerprint_of(Disk& disk, const StoreAddress& address, const PullAnswer& pulled) {
  const std::string hash = fact(pulled.run, "fingerprint");
  if (hash.empty() || hash.find_first_not_of("0123456789abcdef") != std::string::npos) return "";
  const auto harbour = open_harbour(disk, address);
  if (!harbour.ok()) return "";
  const vault::Keys keys{(*harbour)->prefix};
  auto text = get_small(*(*harbour)->store, keys.fingerprint(hash), kFingerprintBytes);
  return text.ok() && content_hash(*text) == hash && parse_fingerprint(*text).ok() ? std::move(*text) : "";
}

}  // namespace mw
