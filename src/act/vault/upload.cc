#include "act/vault/upload.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "base/digest.h"
#include "base/text.h"

namespace mw::vault {
namespace {

constexpr int kRounds = 3;  // of sending anew what the store turned out not to have

/// One file on its way.
struct Sending {
  ManifestFile file;
  std::string key;
  bool multipart = false;
  bool sent = false;                  ///< it is under its key, and only to be checked
  std::string upload;                 ///< id; "": none is open
  std::map<int, UploadedPart> there;  ///< parts that came in an earlier life
  std::vector<UploadedPart> parts;    ///< by number
  std::vector<std::string> sums;      ///< MD5 of each part, 16 bytes
  std::string there_etag;             ///< of the object under its key, when it has the right size
  bool honest = true;                 ///< the store's tags of the parts are their MD5

  /// The tag that S3 gives an object: its MD5, or the MD5 of the parts' MD5s and their number.
  std::string expected() const {
    if (!multipart) return to_hex(sums.empty() ? md5("") : sums.front());
    std::string all;
    for (const std::string& sum : sums) all += sum;
    return cat(to_hex(md5(all)), "-", sums.size());
  }
};

bool is_md5_tag(std::string_view etag) {
  const std::string_view digits = etag.substr(0, etag.find('-'));
  return digits.size() == 32 && digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Error changed(const std::string& path) { return still_being_written(cat(path, " changed while it was read")); }

Error gone(const std::string& path) {
  return removed_meanwhile(cat("a file of the checkpoint was removed while it was sent: ", path));
}

class Uploader {
 public:
  Uploader(const VaultDoors& doors, const Tree& tree, const UploadOptions& options, Meter& meter)
      : doors_(doors), tree_(tree), options_(options), meter_(meter), pacer_(doors, options.pace.rate) {
    if (options.verified == nullptr) return;
    for (const mw::ManifestFile& file : options.verified->files) verified_.emplace(file.path, &file);
  }

  Result<Uploaded> run() {
    MW_TRY(prepare());
    for (int round = 0;; ++round) {
      Crew crew(threads());
      for (size_t i = 0; i < sending_.size(); ++i) {
        if (!sending_[i].sent) MW_TRY(send(i, crew));
      }
      MW_TRY(crew.finish());
      bool again = false;
      MW_TRY(complete(again));
      if (!again) break;
      if (round == kRounds) return Error{Error::Code::kIo, "an upload is aborted by somebody again and again", ""};
    }
    return check();
  }

 private:
  int threads() const {
    int64_t part = options_.part_bytes;
    for (const Sending& one : sending_) part = std::max(part, one.file.part);
    return std::max(1, static_cast<int>(std::min<int64_t>(options_.pace.parallel, kBytesInFlight / part - 1)));
  }

  /// What there is to send, and what of it is there.
  Result<void> prepare() {
    const auto listed = list_all(doors_.store, options_.prefix);
    if (!listed.ok()) return listed.error();
    std::map<std::string_view, const ObjectInfo*> objects;
    for (const ObjectInfo& one : *listed) objects[one.key] = &one;
    for (const LocalFile& local : tree_.files) {
      Sending one;
      one.file.path = local.path;
      one.file.size = local.info.size;
      one.file.part = std::max(options_.part_bytes, (local.info.size + kMaxParts - 1) / kMaxParts);
      if (one.file.part > kMaxPartBytes) {
        return Error{Error::Code::kLimit, cat(local.path, " is larger than midwatch ships"),
                     "The limit is 622 GB a file."};
      }
      one.key = options_.prefix + local.path;
      one.multipart = one.file.size > one.file.part;
      const auto found = objects.find(one.key);
      if (found != objects.end() && found->second->size == one.file.size) one.there_etag = found->second->etag;
      sending_.push_back(std::move(one));
    }
    return find_uploads();
  }

  /// Goes on with the newest open upload of each file; the others are of nobody's use.
  Result<void> find_uploads() {
    const auto open = doors_.store.uploads(options_.prefix);
    if (!open.ok()) return open.error();
    std::map<std::string_view, const OpenUpload*> newest;
    for (const OpenUpload& one : *open) {
      const OpenUpload*& best = newest[one.key];
      if (best == nullptr || one.began > best->began) best = &one;
    }
    for (const OpenUpload& one : *open) {
      const auto wanted = std::find_if(sending_.begin(), sending_.end(),
                                       [&](const Sending& sending) { return sending.key == one.key; });
      if (newest[one.key] != &one || wanted == sending_.end() || !wanted->multipart) {
        (void)doors_.store.abort(one.key, one.id).ok();
        continue;
      }
      const auto parts = doors_.store.parts(one.key, one.id);
      if (!parts.ok() && parts.error().code == Error::Code::kNotFound) continue;
      if (!parts.ok()) return parts.error();
      wanted->upload = one.id;
      for (const UploadedPart& part : *parts) wanted->there[part.number] = part;
    }
    return {};
  }

  /// Reads a file in order and hands its parts out.
  Result<void> send(size_t index, Crew& crew) {
    Sending& one = sending_[index];
    const LocalFile& local = tree_.files[index];
    const auto count = static_cast<size_t>((one.file.size + one.file.part - 1) / one.file.part);
    one.file.parts.assign(count, "");
    one.parts.assign(count, {});
    one.sums.assign(count, "");
    const auto file = doors_.disk.open_read(local.from.empty() ? cat(options_.folder, "/", local.path) : local.from);
    if (!file.ok()) return file.error().code == Error::Code::kNotFound ? gone(local.path) : file.error();
    const auto as_expected = [&](const Result<FileInfo>& info) {
      return info.ok() && info->size == local.info.size && info->changed == local.info.changed &&
             info->inode == local.info.inode;
    };
    if (!as_expected((*file)->info())) return changed(local.path);
    if (one.multipart && one.upload.empty() && one.there_etag.empty()) {
      auto id = doors_.store.begin_upload(one.key);
      if (!id.ok()) return id.error();
      one.upload = std::move(*id);
    }
    ContentHash whole;
    for (size_t part = 0; part < std::max<size_t>(count, 1); ++part) {
      const auto offset = static_cast<int64_t>(part) * one.file.part;
      const auto size = static_cast<size_t>(std::min(one.file.part, one.file.size - offset));
      auto bytes = std::make_shared<std::string>();
      MW_TRY((*file)->read_at(static_cast<uint64_t>(offset), size, *bytes));
      if (bytes->size() != size) return changed(local.path);
      whole.add(*bytes);
      if (part < count) one.file.parts[part] = content_hash(*bytes);
      if (!crew.give([this, &one, part, bytes] { return send_part(one, part, *bytes); })) break;
    }
    one.file.hash = whole.hex();
    MW_TRY(compare(local, whole));
    return as_expected((*file)->info()) ? Result<void>() : changed(local.path);
  }

  /// Nobody wrote to it since it was verified, and its bytes are others: what the disk lost must not go around the
  /// world.
  Result<void> compare(const LocalFile& local, const ContentHash& read) const {
    const auto was = verified_.find(local.path);
    if (was == verified_.end() || !is_untouched(local, *was->second)) return {};
    if (same_bytes(*was->second, {local.path, local.info.size, local.info.changed, read.short_digest(), read.hex()}))
      return {};
    return Error{Error::Code::kInvalid,
                 cat(local.path, " has other bytes than at ", format_utc(options_.verified->at),
                     ", when it was verified, and nobody wrote to it since"),
                 "midwatch checkpoint verify --deep says more. Push an earlier checkpoint."};
  }

  /// On any thread. Each touches its own part only.
  Result<void> send_part(Sending& one, size_t index, const std::string& bytes) {
    const std::string sum = md5(bytes), tag = to_hex(sum);
    const auto size = static_cast<int64_t>(bytes.size());
    if (index < one.sums.size()) one.sums[index] = sum;
    if (!one.multipart) {
      const bool there = one.there_etag == tag;
      if (!there) {
        pacer_.take(size);
        const auto put = doors_.store.put(one.key, {bytes, sum}, {});
        if (!put.ok()) return put.error();
      }
      meter_.add(size, !there);
      return {};
    }
    const int number = static_cast<int>(index) + 1;
    const auto before = one.there.find(number);
    const bool there = before != one.there.end() && before->second.etag == tag && before->second.size == size;
    one.parts[index] = {number, size, tag};
    if (!there && one.upload.empty()) return {};  // it may be whole under its key: complete() compares
    if (!there) {
      pacer_.take(size);
      const auto put = doors_.store.put_part(one.key, one.upload, number, {bytes, sum});
      // Somebody completed or aborted the upload: complete() finds out which.
      if (!put.ok() && put.error().code == Error::Code::kNotFound) return {};
      if (!put.ok()) return put.error();
      one.parts[index].etag = put->etag;
    }
    meter_.add(size, !there);
    return {};
  }

  /// Is the object under its key what was read? By its tag, where the store's tags can be compared.
  Result<bool> is_there(const Sending& one) {
    const auto info = doors_.store.head(one.key);
    if (!info.ok() && info.error().code == Error::Code::kNotFound) return false;
    if (!info.ok()) return info.error();
    return info->size == one.file.size && info->etag == one.expected();
  }

  /// Joins the parts of each file. `again`: some have to be sent anew.
  Result<void> complete(bool& again) {
    for (Sending& one : sending_) {
      if (one.sent) continue;
      one.sent = true;
      if (!one.multipart) continue;
      Result<void> done = Error{Error::Code::kNotFound, "", ""};
      if (!one.upload.empty()) done = doors_.store.complete(one.key, one.upload, one.parts);
      if (done.ok()) continue;
      const auto there = is_there(one);
      if (!there.ok()) return there.error();
      if (*there) continue;
      const Error::Code code = done.error().code;
      if (code != Error::Code::kNotFound && code != Error::Code::kInvalid) return done;
      // Its upload is gone or has other parts: from the beginning, and the old one is of no use.
      if (!one.upload.empty()) (void)doors_.store.abort(one.key, one.upload).ok();
      one.sent = false;
      one.upload = one.there_etag = "";
      one.there.clear();
      again = true;
    }
    return {};
  }

  /// Asks for every file, by its key.
  Result<Uploaded> check() {
    std::mutex mutex;
    Uploaded out;
    Crew crew(threads());
    for (const Sending& one : sending_) {
      const bool more = crew.give([this, &one, &mutex, &out]() -> Result<void> {
        const auto info = doors_.store.head(one.key);
        if (!info.ok()) return info.error();
        const bool same = info->etag == one.expected();
        if (info->size != one.file.size || (!same && is_md5_tag(info->etag))) {
          return Error{Error::Code::kInvalid, cat("the store has something else than was sent: ", one.file.path),
                       "Push again."};
        }
        const std::lock_guard<std::mutex> lock(mutex);
        out.checksums = out.checksums && same;
        return {};
      });
      if (!more) break;
    }
    MW_TRY(crew.finish());
    for (Sending& one : sending_) out.files.push_back(std::move(one.file));
    return out;
  }

  const VaultDoors& doors_;
  const Tree& tree_;
  const UploadOptions& options_;
  Meter& meter_;
  Pacer pacer_;
  std::vector<Sending> sending_;
  std::map<std::string_view, const mw::ManifestFile*> verified_;
};

}  // namespace

Result<Uploaded> upload(const VaultDoors& doors, const Tree& tree, const UploadOptions& options, Meter& meter) {
  return Uploader(doors, tree, options, meter).run();
}

void abort_uploads(ObjectStore& store, const std::string& prefix) {
  const auto open = store.uploads(prefix);
  if (!open.ok()) return;
  for (const OpenUpload& one : *open) (void)store.abort(one.key, one.id).ok();
}

}  // namespace mw::vault
