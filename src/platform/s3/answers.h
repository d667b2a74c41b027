// What S3 answers, in XML (Amazon S3 API Reference, version 2006-03-01). It comes from outside: any bytes may come.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/object_store.h"

namespace mw::s3 {

/// The text of an element, by its path from the root on: {"/Error/Code", "NoSuchKey"}. Elements without text count,
/// too.
struct Element {
  std::string path, text;
};
/// The elements of a document, in the order in which they end. kInvalid: this is no such document; attributes,
/// comments and declarations are passed over, entities of documents' own are not known.
Result<std::vector<Element>> parse_xml(std::string_view text);

/// What went wrong, as the server says; both "" when it does not.
struct Fault {
  std::string code, message;
  std::string region;  ///< in which the server expects it; "": not said
};
Fault parse_fault(std::string_view text);
/// What a person can do about it. `region`: what a header of the answer says of it; "": nothing.
std::string hint_of(int status, const Fault& fault, std::string_view region);

/// ListObjectsV2 with encoding-type=url; `next` is the token of the page after it.
Result<ObjectPage> parse_objects(std::string_view text);
/// InitiateMultipartUpload: the upload's id.
Result<std::string> parse_begun(std::string_view text);

struct PartsPage {
  std::vector<UploadedPart> parts;
  std::string next;  ///< part-number-marker of the page after it; "": it was the last
};
Result<PartsPage> parse_parts(std::string_view text);

struct UploadsPage {
  std::vector<OpenUpload> uploads;
  std::string next_key, next_id;  ///< both "": it was the last
};
Result<UploadsPage> parse_uploads(std::string_view text);

/// The body of CompleteMultipartUpload.
std::string complete_body(const std::vector<UploadedPart>& parts);

/// "Wed, 12 Oct 2009 17:50:00 GMT" (RFC 7231, 7.1.1.1); not known when it is none.
Time parse_http_date(std::string_view text);

}  // namespace mw::s3
