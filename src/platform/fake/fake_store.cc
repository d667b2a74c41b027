#include "platform/fake/fake_store.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"

namespace mw {
namespace {

Error lost() { return {Error::Code::kIo, "the connection was closed", ""}; }
Error none(const std::string& key) { return {Error::Code::kNotFound, cat(key, " is not there"), ""}; }

}  // namespace

const FakeStore::Fault* FakeStore::begin() {
  if (before_call) before_call();
  const uint64_t call = calls_++;
  static constexpr Fault kNothing = Fault::kBefore;
  if (!fail_.armed || call < fail_.at) return nullptr;
  if (call == fail_.at) return &fail_.fault;
  return fail_.sticky ? &kNothing : nullptr;
}

FakeStore::Upload* FakeStore::find(const std::string& key, const std::string& upload) {
  const auto found = uploads_.find(upload);
  return found != uploads_.end() && found->second.key == key ? &found->second : nullptr;
}

void FakeStore::store(const std::string& key, std::string bytes, std::string etag) {
  objects_[key] = {std::move(bytes), std::move(etag), now_};
  if (changed_at) changed_at(key);
}

Result<PutOutcome> FakeStore::put(const std::string& key, const Content& content, const PutCondition& condition) {
  const std::string_view bytes = content.bytes;
  const Fault* fault = begin();
  if (fault != nullptr && *fault == Fault::kSilent && condition.when == PutCondition::When::kAlways) {
    store(key, std::string(bytes.size(), '?'), to_hex(md5(std::string(bytes.size(), '?'))));
    return PutOutcome{true, to_hex(md5(bytes))};
  }
  if (fault != nullptr && *fault != Fault::kAfter) return lost();
  using When = PutCondition::When;
  if (condition.when != When::kAlways && conditions_ == Conditions::kRefused) {
    return Error{Error::Code::kUnsupported, "a header implies what is not implemented", ""};
  }
  const auto there = objects_.find(key);
  const bool holds =
      condition.when == When::kAlways || conditions_ == Conditions::kIgnored ||
      (condition.when == When::kAbsent ? there == objects_.end()
                                       : there != objects_.end() && there->second.etag == condition.etag);
  PutOutcome outcome{holds, to_hex(md5(bytes))};
  if (holds) store(key, std::string(bytes), outcome.etag);
  if (fault != nullptr) return lost();
  return outcome;
}

Result<ObjectInfo> FakeStore::head(const std::string& key) {
  if (begin() != nullptr) return lost();
  const auto there = objects_.find(key);
  if (there == objects_.end()) return none(key);
  return ObjectInfo{key, static_cast<int64_t>(there->second.bytes.size()), there->second.etag, there->second.changed};
}

Result<void> FakeStore::get(const std::string& key, uint64_t offset, int64_t size, const ByteSink& sink) {
  const Fault* fault = begin();
  if (fault != nullptr && *fault != Fault::kCut && *fault != Fault::kFlipped) return lost();
  const auto there = objects_.find(key);
  if (there == objects_.end()) return none(key);
  const std::string& all = there->second.bytes;
  std::string bytes = offset < all.size() ? all.substr(offset, size < 0 ? std::string::npos : size) : std::string();
  if (fault != nullptr && *fault == Fault::kFlipped && !bytes.empty()) bytes[prng_.below(bytes.size())] ^= 4;
  if (fault != nullptr && *fault == Fault::kCut) bytes.resize(prng_.below(bytes.size() + 1));
  const size_t half = bytes.size() / 2;
  if (half > 0) MW_TRY(sink(std::string_view(bytes).substr(0, half)));
  if (half < bytes.size()) MW_TRY(sink(std::string_view(bytes).substr(half)));
  if (fault != nullptr && *fault == Fault::kCut) return lost();
  return {};
}

Result<ObjectPage> FakeStore::list(const std::string& prefix, const std::string& from) {
  if (begin() != nullptr) return lost();
  ObjectPage page;
  for (auto at = objects_.lower_bound(std::max(prefix, from)); at != objects_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    if (!from.empty() && at->first <= from) continue;
    if (page.objects.size() == page_) {
      page.next = page.objects.back().key;
      break;
    }
    page.objects.push_back(
        {at->first, static_cast<int64_t>(at->second.bytes.size()), at->second.etag, at->second.changed});
  }
  return page;
}

Result<void> FakeStore::remove(const std::string& key) {
  const Fault* fault = begin();
  if (fault != nullptr && *fault != Fault::kAfter) return lost();
  if (objects_.erase(key) != 0 && changed_at) changed_at(key);
  if (fault != nullptr) return lost();
  return {};
}

Result<std::string> FakeStore::begin_upload(const std::string& key) {
  const Fault* fault = begin();
  if (fault != nullptr && *fault != Fault::kAfter) return lost();
  const std::string id = cat("upload-", next_upload_++);
  uploads_[id] = {key, now_, {}};
  if (fault != nullptr) return lost();
  return id;
}

Result<UploadedPart> FakeStore::put_part(const std::string& key, const std::string& upload, int number,
                                         const Content& content) {
  const std::string_view bytes = content.bytes;
  const Fault* fault = begin();
  if (fault != nullptr && *fault != Fault::kAfter && *fault != Fault::kSilent) return lost();
  Upload* const found = find(key, upload);
  if (found == nullptr) return none(cat("upload ", upload));
  found->parts[number] =
      fault != nullptr && *fault == Fault::kSilent ? std::string(bytes.size(), '?') : std::string(bytes);
  if (fault != nullptr && *fault == Fault::kSilent) fault = nullptr;
  if (fault != nullptr) return lost();
  return UploadedPart{number, static_cast<int64_t>(bytes.size()), to_hex(md5(bytes))};
}

Result<std::vector<UploadedPart>> FakeStore::parts(const std::string& key, const std::string& upload) {
  if (begin() != nullptr) return lost();
  const Upload* const found = find(key, upload);
  if (found == nullptr) return none(cat("upload ", upload));
  std::vector<UploadedPart> out;
  for (const auto& [number, bytes] : found->parts) {
    out.push_back({number, static_cast<int64_t>(bytes.size()), to_hex(md5(bytes))});
  }
  return out;
}

Result<void> FakeStore::complete(const std::string& key, const std::string& upload,
                                 const std::vector<UploadedPart>& parts) {
  const Fault* fault = begin();
  if (fault != nullptr && *fault != Fault::kAfter) return lost();
  const Upload* const found = find(key, upload);
  if (found == nullptr) return none(cat("upload ", upload));
  std::string bytes, sums;
  for (const UploadedPart& part : parts) {
    const auto there = found->parts.find(part.number);
    if (there == found->parts.end() || to_hex(md5(there->second)) != part.etag) {
      return Error{Error::Code::kInvalid, cat("part ", part.number, " is not what was named"), ""};
    }
    bytes += there->second;
    sums += md5(there->second);
  }
  uploads_.erase(upload);
  store(key, std::move(bytes), cat(to_hex(md5(sums)), "-", parts.size()));
  if (fault != nullptr) return lost();
  return {};
}

Result<void> FakeStore::abort(const std::string& key, const std::string& upload) {
  const Fault* fault = begin();
  if (fault != nullptr && *fault != Fault::kAfter) return lost();
  if (find(key, upload) != nullptr) uploads_.erase(upload);
  if (fault != nullptr) return lost();
  return {};
}

Result<std::vector<OpenUpload>> FakeStore::uploads(const std::string& prefix) {
  if (begin() != nullptr) return lost();
  std::vector<OpenUpload> out;
  for (const auto& [id, upload] : uploads_) {
    if (upload.key.starts_with(prefix)) out.push_back({upload.key, id, upload.began});
  }
  return out;
}

}  // namespace mw
