// links: platform
#include "fuzz.h"
#include "platform/s3/answers.h"

std::vector<std::string> mw::fuzz_seeds() {
  return {
      "<?xml version=\"1.0\"?><ListBucketResult><Contents><Key>a%20b</Key><LastModified>2026-01-15T08:00:00.000Z"
      "</LastModified><ETag>&quot;00&quot;</ETag><Size>3</Size></Contents><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>",
      "<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>\"x\"</ETag><Size>5</Size></Part><IsTruncated>false"
      "</IsTruncated></ListPartsResult>",
      "<ListMultipartUploadsResult><Upload><Key>k</Key><UploadId>u</UploadId></Upload><IsTruncated>true"
      "</IsTruncated><NextKeyMarker>k</NextKeyMarker></ListMultipartUploadsResult>",
      "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>",
      "<Error><Code>NoSuchKey</Code><Message>it &lt;is&gt; not &#34;there&#34;</Message><!-- c --></Error>",
      "Wed, 12 Oct 2009 17:50:00 GMT"};
}

void mw::fuzz_one(std::string_view input) {
  if (const auto page = s3::parse_objects(input); page.ok()) {
    for (const ObjectInfo& one : page->objects) MW_CHECK(!one.key.empty() && one.size >= 0);
  }
  if (const auto page = s3::parse_parts(input); page.ok()) {
    for (const UploadedPart& one : page->parts) MW_CHECK(one.number > 0 && one.size >= 0);
    (void)s3::complete_body(page->parts);
  }
  if (const auto page = s3::parse_uploads(input); page.ok()) {
    for (const OpenUpload& one : page->uploads) MW_CHECK(!one.key.empty() && !one.id.empty());
  }
  (void)s3::parse_begun(input).ok();
  MW_CHECK(s3::parse_fault(input).message.size() <= 320);
  (void)s3::parse_http_date(input);
}
