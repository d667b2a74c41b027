#include "ui/cli/take_store.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>

#include "base/numbers.h"
#include "base/text.h"
#include "base/units.h"

namespace mw {

void declare_place(ArgSpec& spec) {
  spec.option("endpoint", "URL",
              "of the S3 server (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, ~/.aws/config, AWS)");
  spec.option("region", "NAME", "of the bucket (default: AWS_REGION, ~/.aws/config, us-east-1)");
  spec.option("profile", "NAME", "section of ~/.aws/credentials (default: AWS_PROFILE, default)");
  spec.option("addressing", "HOW", "where the bucket stands in addresses: in the path, in the host's name", "auto", 0,
              {"auto", "path", "host"});
}

void declare_store(ArgSpec& spec) {
  declare_place(spec);
  spec.option("parallel", "N", "requests at once, at most", "8");
  spec.option("limit", "SIZE", "bytes a second, at most: 50MB (default: no limit)");
  spec.flag("quiet", "no progress on standard error", 'q');
}

StoreAddress take_place(const Args& args, const std::string& place) {
  StoreAddress address;
  address.place = place;
  address.endpoint = args.get("endpoint");
  address.region = args.get("region");
  address.profile = args.get("profile");
  address.addressing = args.get("addressing");
  return address;
}

Result<void> must_name(std::string_view word, std::string_view place) {
  if (!trim(place).empty()) return {};
  return Error{Error::Code::kInvalid, cat(word, " is empty"),
               "It is s3://BUCKET/RUN, or a folder: /mnt/share/RUN. Is a variable in the command not set?"};
}

Result<StoreAddress> take_store(const Args& args, const std::string& place) {
  MW_TRY(must_name("PLACE", place));
  StoreAddress address = take_place(args, place);
  const auto parallel = parse_int(args.get("parallel"));
  if (!parallel || *parallel < 1 || *parallel > 64) {
    return Error{Error::Code::kInvalid, "--parallel takes a number from 1 to 64", ""};
  }
  address.parallel = static_cast<int>(*parallel);
  if (args.has("limit")) {
    const auto limit = parse_size(args.get("limit"));
    if (!limit.ok()) return limit.error();
    if (*limit < 1) return Error{Error::Code::kInvalid, "--limit takes a size above 0", ""};
    address.rate = *limit;
  }
  return address;
}

Result<int64_t> take_step(const Args& args) {
  if (!args.has("step")) return kNoStep;
  const auto step = parse_int(args.get("step"));
  if (!step || *step < 0 || *step > 1'000'000'000'000) {
    return Error{Error::Code::kInvalid, "--step takes the number of a step", ""};
  }
  return *step;
}

std::string transfer_text(int64_t bytes, double seconds) {
  const double rate = static_cast<double>(bytes) / std::max(seconds, 0.001);
  return cat(format_bytes(static_cast<double>(bytes)), " in ", format_duration(Duration::seconds(seconds)), " (",
             format_bytes(rate), "/s)");
}

namespace {
bool shows_progress(const Console& console, const Args& args) {
  return console.err_is_terminal && !args.has("quiet") && !args.has("json");
}
}  // namespace

std::function<void(int64_t, int64_t)> progress_line(const Console& console, const Args& args, std::string_view verb) {
  if (!shows_progress(console, args)) return {};
  using Clock = std::chrono::steady_clock;
  struct Line {
    std::mutex mutex;
    Clock::time_point began = Clock::now(), shown;
    int64_t first = -1;  ///< bytes that were done when it began
  };
  const auto line = std::make_shared<Line>();
  return [&console, line, word = std::string(verb)](int64_t done, int64_t all) {
    const std::lock_guard<std::mutex> lock(line->mutex);
    const auto now = Clock::now();
    if (line->first < 0) line->first = done;
    if (now - line->shown < std::chrono::milliseconds(200)) return;
    line->shown = now;
    const double seconds = std::chrono::duration<double>(now - line->began).count();
    const double rate = static_cast<double>(done - line->first) / std::max(seconds, 0.001);
    std::string text = cat("\r\x1b[K", word, " ", format_bytes(static_cast<double>(done)), " of ",
                           format_bytes(static_cast<double>(all)), ", ", format_bytes(rate), "/s");
    if (rate > 0)
      text += cat(", ", format_duration(Duration::seconds(static_cast<double>(all - done) / rate)), " left");
    console.err(text);
  };
}

void end_progress(const Console& console, const Args& args) {
  if (shows_progress(console, args)) console.err("\r\x1b[K");
}

}  // namespace mw
