// links: act
#include <set>

#include "act/vault/manifest.h"
#include "base/digest.h"
#include "base/text.h"
#include "fuzz.h"
#include "platform/object_store.h"
#include "platform/s3/settings.h"

namespace {

constexpr std::string_view kBody =
    R"({"checkpoint":"step_40-0123456789abcdef","step":40,"epoch":3,"files":[{"path":"a/b","size":20,)"
    R"("xxh3_128":"00112233445566778899aabbccddeeff","part_size":16,"parts":["00112233445566778899aabbccddeeff",)"
    R"("00112233445566778899aabbccddeeff"]}],"run":{"wandb_run_id":"x"}})";

/// Content with a right checksum around it: else the parser of what is inside would never be reached.
std::string sealed(std::string_view schema, std::string_view body) {
  return mw::cat("{\"schema\":\"", schema, "\",\"xxh3_128\":\"", mw::content_hash(body), "\",\"content\":", body,
                 "}\n");
}

void check(std::string_view text) {
  if (const auto manifest = mw::vault::parse_manifest(text); manifest.ok()) {
    std::set<std::string> names;
    for (const mw::vault::ManifestFile& file : manifest->files) {
      MW_CHECK(mw::is_plain_path(file.path) && names.insert(file.path).second && file.size >= 0 && file.part > 0);
      MW_CHECK(file.path.front() != '/' && !mw::contains(mw::cat("/", file.path, "/"), "/../"));
    }
    MW_CHECK(manifest->bytes() >= 0);
    const auto again = mw::vault::parse_manifest(mw::vault::manifest_json(*manifest));
    MW_CHECK(again.ok() && again->files.size() == manifest->files.size());
  }
  if (const auto pointer = mw::vault::parse_pointer(text); pointer.ok()) {
    MW_CHECK(pointer->step == mw::kNoStep || mw::vault::step_of_id(pointer->checkpoint) == pointer->step);
  }
}

}  // namespace

std::vector<std::string> mw::fuzz_seeds() {
  return {std::string(kBody), sealed("midwatch.checkpoint/1", kBody),
          R"({"epoch":3,"owner":"o","step":40,"checkpoint":"step_40-0123456789abcdef",)"
          R"("manifest_xxh3_128":"00112233445566778899aabbccddeeff","named_in":3,"older":false})",
          "[default]\naws_access_key_id = K\n# note\n[profile x]\nregion=eu\n"};
}

void mw::fuzz_one(std::string_view input) {
  check(input);
  check(sealed("midwatch.checkpoint/1", input));
  check(sealed("midwatch.latest/1", input));
  (void)vault::step_of_id(input);
  (void)s3::ini_value(input, "default", "aws_access_key_id");
}
