// The only includer of libyaml.
#include <yaml.h>

#include <memory>
#include <utility>

#include "base/text.h"
#include "sense/preflight/settings_files.h"

namespace mw::preflight {
namespace {

using Kind = Setting::Kind;

constexpr size_t kNodes = 200'000;  // visited, aliases counted each time: a few lines of them can mean billions

struct Parser {
  yaml_parser_t raw;
  Parser() { ok = yaml_parser_initialize(&raw) == 1; }
  ~Parser() {
    if (ok) yaml_parser_delete(&raw);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  bool ok = false;
};

struct Document {
  yaml_document_t raw;
  bool loaded = false;
  Document() = default;
  ~Document() {
    if (loaded) yaml_document_delete(&raw);
  }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
};

/// Walks one document and puts what it finds.
class Walk {
 public:
  Walk(yaml_document_t& document, const std::string& file, Settings& into)
      : document_(document), file_(file), into_(into) {}

  void value(int node, const std::string& key, size_t depth) {
    yaml_node_t* at = yaml_document_get_node(&document_, node);
    if (at == nullptr || depth > kSettingsDepth || ++visited_ > kNodes) return;
    if (at->type == YAML_SCALAR_NODE) return scalar(*at, key);
    Setting setting;
    setting.key = key;
    setting.place = place(*at);
    setting.kind = at->type == YAML_MAPPING_NODE ? Kind::kTable : Kind::kList;
    if (at->type == YAML_SEQUENCE_NODE)
      setting.number = static_cast<double>(at->data.sequence.items.top - at->data.sequence.items.start);
    if (!key.empty()) into_.put(std::move(setting));
    if (at->type == YAML_MAPPING_NODE) mapping(*at, key, depth);
    if (at->type == YAML_SEQUENCE_NODE) sequence(*at, key, depth);
  }

 private:
  Place place(const yaml_node_t& node) const { return {file_, static_cast<uint32_t>(node.start_mark.line + 1)}; }

  static std::string text_of(const yaml_node_t& node) {
    return {reinterpret_cast<const char*>(node.data.scalar.value), node.data.scalar.length};
  }

  void scalar(const yaml_node_t& node, const std::string& key) {
    const std::string text = text_of(node);
    Setting setting;
    const bool plain = node.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (plain) {
      setting = read_scalar(key, text, place(node));
      if (text.empty()) setting.kind = Kind::kNone;
    } else {
      setting.key = key;
      setting.text = text;
      setting.place = place(node);
    }
    setting.unsure = contains(text, "${") || text == "???";  // OmegaConf fills it in
    if (!key.empty()) into_.put(std::move(setting));
  }

  void mapping(const yaml_node_t& node, const std::string& key, size_t depth) {
    // What is merged ("<<") first: keys of the mapping itself win.
    for (const bool merged : {true, false}) {
      for (const yaml_node_pair_t* pair = node.data.mapping.pairs.start; pair < node.data.mapping.pairs.top; ++pair) {
        const yaml_node_t* name = yaml_document_get_node(&document_, pair->key);
        if (name == nullptr || name->type != YAML_SCALAR_NODE) continue;
        const std::string word = text_of(*name);
        if ((word == "<<") != merged || word.empty()) continue;
        merged ? merge(pair->value, key, depth + 1) : value(pair->value, below(key, word), depth + 1);
      }
    }
  }

  void merge(int node, const std::string& key, size_t depth) {
    const yaml_node_t* at = yaml_document_get_node(&document_, node);
    if (at == nullptr || depth > kSettingsDepth || ++visited_ > kNodes) return;
    if (at->type == YAML_MAPPING_NODE) mapping(*at, key, depth);
    if (at->type != YAML_SEQUENCE_NODE) return;
    for (const yaml_node_item_t* item = at->data.sequence.items.top; item > at->data.sequence.items.start;)
      merge(*--item, key, depth + 1);
  }

  void sequence(const yaml_node_t& node, const std::string& key, size_t depth) {
    size_t number = 0;
    for (const yaml_node_item_t* item = node.data.sequence.items.start; item < node.data.sequence.items.top; ++item) {
      value(*item, below(key, cat(number++)), depth + 1);
    }
  }

  yaml_document_t& document_;
  const std::string& file_;
  Settings& into_;
  size_t visited_ = 0;
};

}  // namespace

Result<void> read_yaml(std::string_view text, const std::string& file, const std::string& prefix, Settings& into) {
  if (text.size() > kSettingsBytes)
    return Error{Error::Code::kLimit, cat(file, ": larger than ", kSettingsBytes, " bytes"), ""};
  const auto parser = std::make_unique<Parser>();
  if (!parser->ok) return Error{Error::Code::kIo, cat(file, ": no memory to read it"), ""};
  yaml_parser_set_input_string(&parser->raw, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  Document document;
  document.loaded = yaml_parser_load(&parser->raw, &document.raw) == 1;
  if (!document.loaded) {
    const char* problem = parser->raw.problem != nullptr ? parser->raw.problem : "it is no YAML";
    const size_t line = parser->raw.problem_mark.line + 1;
    return Error{Error::Code::kInvalid, cat(file, ":", line, ": ", problem), "mend that line"};
  }
  const yaml_node_t* root = yaml_document_get_root_node(&document.raw);
  if (root == nullptr) return {};  // it is empty
  if (root->type != YAML_MAPPING_NODE) return Error{Error::Code::kInvalid, cat(file, ":1: it holds no keys"), ""};
  Walk(document.raw, file, into).value(1, prefix, 0);
  return {};
}

}  // namespace mw::preflight
