#include "platform/s3/answers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"

namespace mw::s3 {
namespace {

constexpr size_t kDepth = 16;          // of elements within elements; S3's have 4
constexpr size_t kElements = 200'000;  // of one answer; a page of 1000 parts has 5000

Error broken() { return {Error::Code::kInvalid, "the server's answer is no XML as S3 writes it", ""}; }

/// `text` with its entities replaced.
std::string plain(std::string_view text) {
  struct Entity {
    std::string_view name;
    char is;
  };
  constexpr std::array<Entity, 5> kEntities = {
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string out;
  while (!text.empty()) {
    const auto* known = std::find_if(kEntities.begin(), kEntities.end(),
                                     [text](const Entity& one) { return text.starts_with(one.name); });
    const size_t end = text.find(';');
    if (known != kEntities.end()) {
      out += known->is;
      text.remove_prefix(known->name.size());
    } else if (text.starts_with("&#34;")) {  // the quotes of an ETag, as some servers write them
      out += '"';
      text.remove_prefix(end + 1);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

/// Cuts a tag, a comment or a declaration off `text`, which begins with '<'; its inside, or nullopt when it has no end.
std::optional<std::string_view> take_tag(std::string_view& text) {
  const bool comment = text.starts_with("<!--");
  const std::string_view close = comment ? "-->" : ">";
  const size_t end = text.find(close);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = comment ? std::string_view("!") : text.substr(1, end - 1);
  text.remove_prefix(end + close.size());
  return inside;
}

std::string unquoted(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

/// Percent-encoded text, as encoding-type=url asks for; '+' stands for a space there.
std::string decoded(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

Time time_of(std::string_view text) { return parse_time(text).value_or(Time{}); }

/// The document, when its root is `root`.
Result<std::vector<Element>> document(std::string_view text, std::string_view root) {
  auto elements = parse_xml(text);
  if (!elements.ok()) return elements.error();
  if (elements->empty() || elements->back().path != cat("/", root)) return broken();
  return elements;
}

}  // namespace

Result<std::vector<Element>> parse_xml(std::string_view text) {
  std::vector<Element> out;
  std::vector<std::string> open;
  std::string path, content;
  bool ended = false;
  while (!text.empty()) {
    if (text.front() != '<') {
      const size_t end = std::min(text.find('<'), text.size());
      if (open.empty() && !trim(text.substr(0, end)).empty()) return broken();
      content += plain(text.substr(0, end));
      text.remove_prefix(end);
      continue;
    }
    const auto tag = take_tag(text);
    if (!tag || tag->empty()) return broken();
    if (tag->front() == '?' || tag->front() == '!') continue;
    if (tag->front() == '/') {
      if (open.empty() || trim(tag->substr(1)) != open.back()) return broken();
      out.push_back({path, std::move(content)});
      content.clear();
      path.resize(path.size() - open.back().size() - 1);
      open.pop_back();
      ended = open.empty();
      continue;
    }
    const bool empty = tag->back() == '/';
    const std::string name(tag->substr(0, tag->find_first_of(" \t\r\n/")));
    if (name.empty() || ended || open.size() == kDepth || out.size() == kElements) return broken();
    content.clear();
    if (empty) {
      out.push_back({cat(path, "/", name), ""});
      ended = open.empty();
    } else {
      open.push_back(name);
      path += "/" + name;
    }
  }
  if (!ended || !open.empty()) return broken();
  return out;
}

Fault parse_fault(std::string_view text) {
  const auto elements = parse_xml(text);
  Fault fault;
  if (!elements.ok()) return fault;
  for (const Element& one : *elements) {
    if (one.path == "/Error/Code") fault.code = clip(trim(one.text), 80);
    if (one.path == "/Error/Message") fault.message = clip(trim(one.text), 300);
    if (one.path == "/Error/Region") fault.region = escape_terminal(clip(trim(one.text), 40));
  }
  return fault;
}

std::string hint_of(int status, const Fault& fault, std::string_view region) {
  if (fault.code == "SignatureDoesNotMatch") return "The secret key is not that of the key id.";
  if (fault.code == "InvalidAccessKeyId") return "The server does not know this key id.";
  if (fault.code == "RequestTimeTooSkewed") return "The machine's clock is wrong by more than a quarter of an hour.";
  if (fault.code == "NoSuchBucket") return "Make the bucket first, or check its name and the endpoint.";
  if (status == 301 || status == 307 || fault.code == "AuthorizationHeaderMalformed") {
    if (region.empty()) region = fault.region;
    if (region.empty()) return "The bucket is in another region: --region, or region in the file that names the store.";
    return cat("The bucket is in another region: --region ", region, ", or region = \"", region,
               "\" in the file that names the store.");
  }
  if (status == 401 || status == 403) {
    return "Either the secret key is wrong, or the credentials lack a right: to list the bucket, to read and to write.";
  }
  return {};
}

Result<ObjectPage> parse_objects(std::string_view text) {
  const auto elements = document(text, "ListBucketResult");
  if (!elements.ok()) return elements.error();
  ObjectPage page;
  ObjectInfo one;
  bool more = false, whole = true;
  for (const Element& at : *elements) {
    const std::string_view path = at.path;
    if (path == "/ListBucketResult/Contents/Key") one.key = decoded(at.text);
    if (path == "/ListBucketResult/Contents/ETag") one.etag = unquoted(at.text);
    if (path == "/ListBucketResult/Contents/LastModified") one.changed = time_of(at.text);
    if (path == "/ListBucketResult/Contents/Size") {
      const auto size = parse_int(at.text);
      whole = whole && size && *size >= 0;
      one.size = size.value_or(0);
    }
    if (path == "/ListBucketResult/Contents") {
      whole = whole && !one.key.empty();
      page.objects.push_back(std::move(one));
      one = {};
    }
    if (path == "/ListBucketResult/IsTruncated") more = at.text == "true";
    if (path == "/ListBucketResult/NextContinuationToken") page.next = at.text;
  }
  if (!whole || (more && page.next.empty())) return broken();
  if (!more) page.next.clear();
  return page;
}

Result<std::string> parse_begun(std::string_view text) {
  const auto elements = document(text, "InitiateMultipartUploadResult");
  if (!elements.ok()) return elements.error();
  for (const Element& one : *elements) {
    if (one.path == "/InitiateMultipartUploadResult/UploadId" && !one.text.empty()) return one.text;
  }
  return broken();
}

Result<PartsPage> parse_parts(std::string_view text) {
  const auto elements = document(text, "ListPartsResult");
  if (!elements.ok()) return elements.error();
  PartsPage page;
  UploadedPart one;
  bool more = false;
  for (const Element& at : *elements) {
    const std::string_view path = at.path;
    if (path == "/ListPartsResult/Part/PartNumber") {
      one.number = static_cast<int>(std::clamp<int64_t>(parse_int(at.text).value_or(0), 0, 100'000));
    }
    if (path == "/ListPartsResult/Part/Size") one.size = parse_int(at.text).value_or(-1);
    if (path == "/ListPartsResult/Part/ETag") one.etag = unquoted(at.text);
    if (path == "/ListPartsResult/Part") {
      if (one.number < 1 || one.size < 0) return broken();
      page.parts.push_back(std::move(one));
      one = {};
    }
    if (path == "/ListPartsResult/IsTruncated") more = at.text == "true";
    if (path == "/ListPartsResult/NextPartNumberMarker") page.next = at.text;
  }
  if (more && page.next.empty()) return broken();
  if (!more) page.next.clear();
  return page;
}

Result<UploadsPage> parse_uploads(std::string_view text) {
  const auto elements = document(text, "ListMultipartUploadsResult");
  if (!elements.ok()) return elements.error();
  UploadsPage page;
  OpenUpload one;
  bool more = false;
  for (const Element& at : *elements) {
    const std::string_view path = at.path;
    if (path == "/ListMultipartUploadsResult/Upload/Key") one.key = decoded(at.text);
    if (path == "/ListMultipartUploadsResult/Upload/UploadId") one.id = at.text;
    if (path == "/ListMultipartUploadsResult/Upload/Initiated") one.began = time_of(at.text);
    if (path == "/ListMultipartUploadsResult/Upload") {
      if (one.key.empty() || one.id.empty()) return broken();
      page.uploads.push_back(std::move(one));
      one = {};
    }
    if (path == "/ListMultipartUploadsResult/IsTruncated") more = at.text == "true";
    if (path == "/ListMultipartUploadsResult/NextKeyMarker") page.next_key = decoded(at.text);
    if (path == "/ListMultipartUploadsResult/NextUploadIdMarker") page.next_id = at.text;
  }
  if (more && page.next_key.empty()) return broken();
  if (!more) page.next_key = page.next_id = "";
  return page;
}

std::string complete_body(const std::vector<UploadedPart>& parts) {
  std::string out = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (const UploadedPart& part : parts) {
    out += cat("<Part><PartNumber>", part.number, "</PartNumber><ETag>&quot;");
    for (const char c : part.etag) out += c == '<' || c == '&' || c == '>' ? '?' : c;
    out += "&quot;</ETag></Part>";
  }
  return out + "</CompleteMultipartUpload>";
}

Time parse_http_date(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() < 29 || !text.ends_with("GMT")) return {};
  const size_t month = kMonths.find(text.substr(8, 3));
  if (month == std::string_view::npos || month % 3 != 0) return {};
  const std::string number = std::to_string(month / 3 + 1);
  return time_of(cat(text.substr(12, 4), "-", number.size() == 1 ? "0" : "", number, "-", text.substr(5, 2), "T",
                     text.substr(17, 8), "Z"));
}

}  // namespace mw::s3
