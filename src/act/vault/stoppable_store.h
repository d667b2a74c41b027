// A store whose calls end when somebody wants an upload to end.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/object_store.h"

namespace mw::vault {

/// Shared between who uploads and who may end that.
using StopFlag = std::shared_ptr<std::atomic<bool>>;

/// Passes every call on, until the flag is set: from then on each fails with kInterrupted. A call that is on its way
/// ends by itself.
class StoppableStore final : public ObjectStore {
 public:
  StoppableStore(ObjectStore& store, StopFlag stop) : store_(store), stop_(std::move(stop)) {}
  std::string name() const override { return store_.name(); }
  Result<PutOutcome> put(const std::string& key, const Content& content, const PutCondition& condition) override {
    return stopped() ? Result<PutOutcome>(ended()) : store_.put(key, content, condition);
  }
  Result<ObjectInfo> head(const std::string& key) override {
    return stopped() ? Result<ObjectInfo>(ended()) : store_.head(key);
  }
  Result<void> get(const std::string& key, uint64_t offset, int64_t size, const ByteSink& sink) override {
    return stopped() ? Result<void>(ended()) : store_.get(key, offset, size, sink);
  }
  Result<ObjectPage> list(const std::string& prefix, const std::string& from) override {
    return stopped() ? Result<ObjectPage>(ended()) : store_.list(prefix, from);
  }
  Result<void> remove(const std::string& key) override {
    return stopped() ? Result<void>(ended()) : store_.remove(key);
  }
  Result<std::string> begin_upload(const std::string& key) override {
    return stopped() ? Result<std::string>(ended()) : store_.begin_upload(key);
  }
  Result<UploadedPart> put_part(const std::string& key, const std::string& upload, int number,
                                const Content& content) override {
    return stopped() ? Result<UploadedPart>(ended()) : store_.put_part(key, upload, number, content);
  }
  Result<std::vector<UploadedPart>> parts(const std::string& key, const std::string& upload) override {
    return stopped() ? Result<std::vector<UploadedPart>>(ended()) : store_.parts(key, upload);
  }
  Result<void> complete(const std::string& key, const std::string& upload,
                        const std::vector<UploadedPart>& parts) override {
    return stopped() ? Result<void>(ended()) : store_.complete(key, upload, parts);
  }
  Result<void> abort(const std::string& key, const std::string& upload) override {
    return stopped() ? Result<void>(ended()) : store_.abort(key, upload);
  }
  Result<std::vector<OpenUpload>> uploads(const std::string& prefix) override {
    return stopped() ? Result<std::vector<OpenUpload>>(ended()) : store_.uploads(prefix);
  }

 private:
  bool stopped() const { return stop_->load(); }
  static Error ended() { return {Error::Code::kInterrupted, "midwatch was asked to end", ""}; }

  ObjectStore& store_;
  StopFlag stop_;
};

}  // namespace mw::vault
