#include "sense/fingerprint/fingerprint.h"

#include <algorithm>

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"

namespace mw {
namespace {

void put_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

void put_facts(JsonWriter& json, std::string_view key, const Fingerprint::Facts& facts) {
  json.key(key).begin_object();
  for (const auto& [name, value] : facts) json.key(name).string(value);
  json.end_object();
}

std::vector<std::string> texts_of(const Json* list) {
  std::vector<std::string> out;
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& text : list->items()) out.push_back(text.string());
  return out;
}

Fingerprint::Facts facts_of(const Json* object) {
  Fingerprint::Facts out;
  if (object == nullptr || !object->is_object()) return out;
  for (const auto& [name, value] : object->members()) out[name] = value.string();
  return out;
}

}  // namespace

std::string fingerprint_text(const Fingerprint& of) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("version").integer(1).key("attempt").integer(of.attempt);
    json.key("at").string(format_utc(of.at)).key("at_ns").integer(of.at.ns);
    put_texts(json, "command", of.command);
    json.key("folder").string(of.folder).key("facts").begin_object();
    for (const auto& [group, facts] : of.facts) put_facts(json, group, facts);
    json.end_object().key("files").begin_object();
    for (const auto& [path, file] : of.files) {
      json.key(path).begin_object().key("bytes").integer(file.bytes).key("hash").string(file.hash);
      json.key("text").string(file.text).end_object();
    }
    json.end_object();
    if (of.code) {
      json.key("code").begin_object().key("folder").string(of.code->folder).key("commit").string(of.code->commit);
      json.key("branch").string(of.code->branch).key("hash").string(of.code->hash);
      put_facts(json, "changed", of.code->changed);
      put_texts(json, "untracked", of.code->untracked);
      json.end_object();
    }
    put_texts(json, "missing", of.missing);
    json.end_object();
  }
  return out + "\n";
}

Result<Fingerprint> parse_fingerprint(std::string_view text) {
  auto json = Json::parse(text);
  if (!json.ok()) return json.error();
  const Json* facts = json->find("facts");
  if (facts == nullptr || !facts->is_object()) {
    return Error{Error::Code::kInvalid, "'facts' is missing or of the wrong kind", ""};
  }
  Fingerprint out;
  out.attempt = json->integer_or("attempt", 0);
  out.at.ns = json->integer_or("at_ns", 0);
  out.command = texts_of(json->find("command"));
  out.folder = json->string_or("folder", "");
  for (const auto& [group, members] : facts->members()) out.facts[group] = facts_of(&members);
  if (const Json* files = json->find("files"); files != nullptr && files->is_object()) {
    for (const auto& [path, file] : files->members()) {
      if (!file.is_object()) continue;
      out.files[path] = {file.integer_or("bytes", 0), file.string_or("hash", ""), file.string_or("text", "")};
    }
  }
  if (const Json* code = json->find("code"); code != nullptr && code->is_object()) {
    out.code =
        CodeSeen{code->string_or("folder", ""),   code->string_or("commit", ""),     code->string_or("branch", ""),
                 facts_of(code->find("changed")), texts_of(code->find("untracked")), code->string_or("hash", "")};
  }
  out.missing = texts_of(json->find("missing"));
  return out;
}

void merge(Fingerprint& into, Fingerprint&& from) {
  for (auto& [group, facts] : from.facts) into.facts[group].merge(facts);
  into.files.merge(from.files);
  if (from.code) into.code = std::move(from.code);
  if (into.command.empty()) into.command = std::move(from.command);
  if (into.folder.empty()) into.folder = std::move(from.folder);
  into.missing.insert(into.missing.end(), from.missing.begin(), from.missing.end());
}

std::string configuration_digest(const Fingerprint& fingerprint) {
  std::string all;
  for (const std::string& word : fingerprint.command) all += cat(word, "\n");
  for (const auto& [name, file] : fingerprint.files) all += cat(name, " ", file.hash, "\n");
  return content_hash(all);
}

}  // namespace mw
