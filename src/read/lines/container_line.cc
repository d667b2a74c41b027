#include "read/lines/container_line.h"

#include "base/json.h"
#include "base/text.h"

namespace mw {

bool unwrap_container_line(std::string_view line, std::string& out) {
  if (!may_be_container_line(line)) return false;
  const auto json = Json::parse(line);
  if (!json.ok() || !json->is_object()) return false;
  const Json *log = json->find("log"), *stream = json->find("stream"), *time = json->find("time");
  if (log == nullptr || stream == nullptr || time == nullptr || !log->is_string() || !time->is_string()) return false;
  if (stream->string() != "stdout" && stream->string() != "stderr") return false;
  std::string text = log->string();
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  for (char& c : text) c = c == '\n' ? ' ' : c;
  out.append(time->string()).append(" ").append(text) += '\n';
  return true;
}

}  // namespace mw
