// Random events for tests, fuzzing and simulation: every type, every field, from the field table.
#pragma once

#include <array>
#include <limits>
#include <string>

#include "base/prng.h"
#include "core/event_fields.h"

namespace mw {

/// Makes events with hostile content: NaN, infinities, extreme numbers, control characters, bytes that are not UTF-8.
class RandomEvent {
 public:
  explicit RandomEvent(uint64_t seed) : prng_(seed) {}

  Event next() {
    Event event;
    fill(event.at.ns);
    if (event.at.ns == kNoStep) event.at.ns = 0;
    fill(event.received.ns);
    if (event.received.ns == kNoStep) event.received.ns = 0;
    fill(event.where.source);
    fill(event.where.line);
    make(event, prng_.below(std::variant_size_v<AnyBody>));
    return event;
  }

 private:
  template <size_t I = 0>
  void make(Event& event, size_t wanted) {
    if constexpr (I < std::variant_size_v<AnyBody>) {
      if (I != wanted) return make<I + 1>(event, wanted);
      auto& body = event.body.template emplace<I>();
      std::apply([&](const auto&... field) { (fill(body.*(field.member)), ...); },
                 EventTable<std::decay_t<decltype(body)>>::table);
    }
  }

  void fill(bool& out) { out = prng_.chance(0.5); }
  void fill(int64_t& out) {
    constexpr std::array<int64_t, 6> kSpecial = {kNoStep, 0, -1, 1, INT64_MAX, INT64_MIN + 1};
    out = prng_.chance(0.3) ? kSpecial[prng_.below(kSpecial.size())]
                            : static_cast<int64_t>(prng_.next() >> prng_.below(64));
  }
  void fill(uint64_t& out) { out = prng_.next() >> prng_.below(64); }
  void fill(uint32_t& out) { out = static_cast<uint32_t>(prng_.next() >> (32 + prng_.below(32))); }
  void fill(double& out) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    constexpr std::array<double, 8> kSpecial = {0.0,    -0.0,  kInf, -kInf, std::numeric_limits<double>::quiet_NaN(),
                                                5e-324, 1e308, 1.0};
    out = prng_.chance(0.3) ? kSpecial[prng_.below(kSpecial.size())] : (prng_.unit() - 0.5) * 1e3;
  }
  void fill(std::string& out) {
    out.clear();
    for (uint64_t n = prng_.below(40); n > 0; --n) {
      switch (prng_.below(8)) {
        case 0:
          out.push_back(static_cast<char>(prng_.below(256)));
          break;
        case 1:
          out.append("\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x99");
          break;
        case 2:
          out.push_back("\"\\\n\r\t/\x7f"[prng_.below(7)]);
          break;
        default:
          out.push_back(static_cast<char>('a' + prng_.below(26)));
      }
    }
  }
  void fill(std::vector<Reading>& out) {
    out.clear();
    for (uint64_t left = prng_.below(5); left > 0; --left) {
      std::string signal, raw;
      double value = 0;
      fill(signal);
      fill(raw);
      fill(value);
      out.emplace_back(std::move(signal), std::move(raw), value);
    }
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void fill(Enum& out) {
    uint64_t count = 0;
    while (!enum_name(static_cast<Enum>(count)).empty()) ++count;
    out = static_cast<Enum>(prng_.below(count));
  }

  Prng prng_;
};

}  // namespace mw
