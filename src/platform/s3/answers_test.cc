#include "platform/s3/answers.h"

#include <doctest/doctest.h>

#include <map>

#include "platform/fake/fake_disk.h"
#include "platform/s3/settings.h"

namespace mw::s3 {
namespace {

TEST_CASE("answers in XML") {
  const auto page = parse_objects(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      "<Name>b</Name><Prefix/><KeyCount>1</KeyCount><IsTruncated>true</IsTruncated><!-- one > two -->"
      "<NextContinuationToken>1/a&amp;b</NextContinuationToken><Contents><Key>a+b%2Bc%C3%A9</Key>"
      "<LastModified>2009-10-12T17:50:30.000Z</LastModified><ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag>"
      "<Size>434234</Size><StorageClass>STANDARD</StorageClass></Contents></ListBucketResult>");
  REQUIRE(page.ok());
  REQUIRE(page->objects.size() == 1);
  CHECK(page->objects[0].key == "a b+cé");
  CHECK(page->objects[0].etag == "fba9dede5f27731c9771645a39863328");
  CHECK(page->objects[0].size == 434234);
  CHECK(format_utc(page->objects[0].changed) == "2009-10-12T17:50:30Z");
  CHECK(page->next == "1/a&b");
  const Fault fault =
      parse_fault("<Error><Code>SlowDown</Code><Message>Reduce</Message><RequestId>x</RequestId></Error>");
  CHECK(fault.code == "SlowDown");
  CHECK(fault.message == "Reduce");
  CHECK(parse_fault("<html><body>502</body></html>").code.empty());
  for (const char* wrong :
       {"", "<a>", "<a></b>", "a", "<a/><b/>", "<ListBucketResult><Contents></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "<Error></Error>", "<", "<!-- ",
        "<ListBucketResult><Contents><Key>a</Key><Size>-3</Size></Contents></ListBucketResult>"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_objects(wrong).ok());
  }
  CHECK(format_utc(parse_http_date("Wed, 12 Oct 2009 17:50:00 GMT")) == "2009-10-12T17:50:00Z");
  CHECK_FALSE(parse_http_date("yesterday").known());
}

Result<Settings> found(const std::map<std::string, std::string, std::less<>>& variables, const Given& given = {},
                       const std::string& bucket = "bucket") {
  FakeDisk disk;
  disk.put("/home/.aws/credentials",
           "[default]\naws_access_key_id = FILEKEY\naws_secret_access_key=filesecret\n\n[other]\n"
           "aws_access_key_id=OTHER\naws_secret_access_key=s\naws_session_token = t\n");
  disk.put("/home/.aws/config",
           "[default]\nregion = eu-west-1\n[profile other]\nregion=us-west-2\n"
           "endpoint_url = https://minio.example:9000/\n");
  return find_settings(
      given, bucket,
      [&](std::string_view name) -> std::optional<std::string> {
        const auto value = variables.find(name);
        return value == variables.end() ? std::nullopt : std::optional(value->second);
      },
      disk);
}

TEST_CASE("a wrong region is named with the right one, and where to write it") {
  const Fault fault = parse_fault(
      "<?xml version=\"1.0\"?><Error><Code>AuthorizationHeaderMalformed</Code><Message>the region 'us-east-1' is wrong"
      "</Message><Region>eu-west-1</Region></Error>");
  CHECK(fault.region == "eu-west-1");
  CHECK(hint_of(400, fault, "").find("--region eu-west-1, or region = \"eu-west-1\" in the file") != std::string::npos);
  CHECK(hint_of(301, {}, "ap-south-1").find("--region ap-south-1") != std::string::npos);
  CHECK(hint_of(301, {}, "").find("another region") != std::string::npos);
  CHECK(hint_of(200, {}, "").empty());
}

TEST_CASE("credentials, region and endpoint are those of AWS's own tools") {
  auto settings = found({{"HOME", "/home"}});
  REQUIRE(settings.ok());
  CHECK(settings->credentials.key_id == "FILEKEY");
  CHECK(settings->endpoint == "https://s3.eu-west-1.amazonaws.com");
  CHECK_FALSE(settings->path_style);
  settings = found({{"HOME", "/home"}, {"AWS_PROFILE", "other"}});
  CHECK(settings->credentials.token == "t");
  CHECK(settings->endpoint == "https://minio.example:9000");
  CHECK(settings->path_style);
  settings = found({{"HOME", "/home"},
                    {"AWS_ACCESS_KEY_ID", "K"},
                    {"AWS_SECRET_ACCESS_KEY", "S"},
                    {"AWS_REGION", "ap-south-1"},
                    {"AWS_ENDPOINT_URL", "http://a"},
                    {"AWS_ENDPOINT_URL_S3", "http://b:1"}});
  CHECK(settings->credentials.key_id == "K");
  CHECK(settings->region == "ap-south-1");
  CHECK(settings->endpoint == "http://b:1");
  CHECK(found({{"HOME", "/home"}, {"AWS_ACCESS_KEY_ID", "K"}, {"AWS_SECRET_ACCESS_KEY", "S"}},
              {"", "", "other", Addressing::kHost})
            ->credentials.key_id == "OTHER");
  CHECK(found({{"HOME", "/home"}}, {}, "with.dots")->path_style);
  CHECK(found({{"HOME", "/nobody"}}).error().code == Error::Code::kDenied);
  for (const char* endpoint : {"ftp://x", "https://user:word@host", "https://host/path", "http://a b"}) {
    CHECK_FALSE(found({{"HOME", "/home"}}, {endpoint, "", "", Addressing::kAuto}).ok());
  }
}

}  // namespace
}  // namespace mw::s3
