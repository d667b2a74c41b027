// The door to object stores: keys, and bytes under them. An S3-compatible server, a folder (also one on a file server),
// or a fake with faults behind it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mw {

struct ObjectInfo {
  std::string key;
  int64_t size = 0;  ///< bytes
  std::string etag;  ///< names this content; without quotes. Mostly its MD5 in hexadecimal, which is not promised
  Time changed;      ///< by the store's clock; unknown where the store does not say
};

/// One page of a listing, in byte order of the keys.
struct ObjectPage {
  std::vector<ObjectInfo> objects;
  std::string next;  ///< to be given for the page after this; "": it was the last
};

/// What is put. Who knows the MD5 of it already says so: to compute it costs more than all else of sending a part.
struct Content {
  Content() = default;
  template <std::convertible_to<std::string_view> Text>
  Content(const Text& text, std::string_view sum = {})  // NOLINT(google-explicit-constructor): any text is a content
      : bytes(text), md5(sum) {}
  std::string_view bytes;
  std::string_view md5;  ///< of the bytes, 16 bytes; "": not known. Both outlive the call
  /// The MD5, computed where it is not known.
  std::string sum() const;
};

/// When a put() may take effect. A store that knows no conditions says kUnsupported, or ignores them: ask it with keys
/// of your own before you rely on it.
struct PutCondition {
  enum class When { kAlways, kAbsent, kMatches };
  When when = When::kAlways;
  std::string etag = {};  ///< of kMatches: the object that is there has it
};

struct PutOutcome {
  bool stored = true;  ///< false: the condition did not hold, or another put won. After a lost answer it may be this
                       ///< very put that won: read the object to know
  std::string etag;    ///< of what was stored
};

struct UploadedPart {
  int number = 0;  ///< from 1
  int64_t size = 0;
  std::string etag;
};

/// An upload in parts that nobody completed yet.
struct OpenUpload {
  std::string key, id;
  Time began;  ///< by the store's clock
};

/// Gets bytes in order; an error ends the transfer and is what get() returns.
using ByteSink = std::function<Result<void>(std::string_view)>;

/// May be asked from several threads. Errors: kNotFound (no such object, upload, or bucket), kDenied (credentials,
/// rights), kUnsupported (this store cannot do that), kFull (quota, disk), kInterrupted (no answer in time), kIo (all
/// else that another try may mend). A real store tries again by itself before it gives up. No error names a secret.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  /// How a person knows it: "s3://bucket", "/mnt/share".
  virtual std::string name() const = 0;

  /// There whole or not at all. What was there before under that key is replaced.
  virtual Result<PutOutcome> put(const std::string& key, const Content& content, const PutCondition& condition) = 0;
  virtual Result<ObjectInfo> head(const std::string& key) = 0;
  /// `size` bytes from `offset`; fewer where the object ends before, none behind its end. size < 0: to its end.
  virtual Result<void> get(const std::string& key, uint64_t offset, int64_t size, const ByteSink& sink) = 0;
  /// Of the objects whose keys begin with `prefix`. `from`: next of the page before, or "".
  virtual Result<ObjectPage> list(const std::string& prefix, const std::string& from) = 0;
  /// Removing what is not there is no error.
  virtual Result<void> remove(const std::string& key) = 0;

  /// An upload in parts: nothing is under the key before complete(). A part put again under its number replaces the one
  /// before. All parts but the last have at least 5 MiB on real stores, and there are at most 10,000.
  virtual Result<std::string> begin_upload(const std::string& key) = 0;
  virtual Result<UploadedPart> put_part(const std::string& key, const std::string& upload, int number,
                                        const Content& content) = 0;
  /// All parts that are there, in order of their numbers.
  virtual Result<std::vector<UploadedPart>> parts(const std::string& key, const std::string& upload) = 0;
  /// Joins exactly these parts. kNotFound after a lost answer: head() says whether it was done.
  virtual Result<void> complete(const std::string& key, const std::string& upload,
                                const std::vector<UploadedPart>& parts) = 0;
  virtual Result<void> abort(const std::string& key, const std::string& upload) = 0;  ///< no error when it is gone
  virtual Result<std::vector<OpenUpload>> uploads(const std::string& prefix) = 0;
};

/// The whole of a small object, at most `limit` bytes (kLimit: it is larger).
Result<std::string> get_small(ObjectStore& store, const std::string& key, size_t limit);
/// All objects below a prefix, page by page.
Result<std::vector<ObjectInfo>> list_all(ObjectStore& store, const std::string& prefix);

/// Objects as files below `folder`, which is made when missing. Works on file servers: takes effect by rename and link,
/// conditions under a lock. What is not complete lies in `.midwatch-store` there. `rate`: bytes a second that are
/// written, at most; 0: as fast as it goes. `stopped`: a call that writes at such a rate ends soon once it is true
/// (kInterrupted); may be empty.
std::unique_ptr<ObjectStore> make_folder_store(const std::string& folder, int64_t rate = 0,
                                               std::function<bool()> stopped = {});

/// May this be a relative path that stays where it belongs: names joined by '/', none of them empty, "." or "..", no
/// control characters, no backslash, at most 255 bytes a name and 900 in all (a key of S3 has 1024).
bool is_plain_path(std::string_view path);

}  // namespace mw
