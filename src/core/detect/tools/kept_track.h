// Tracks that are kept from one judgement to the next and grow with their series, and walks along them that go on from
// where they were. Both are derived: made anew they come to the same.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "core/detect/tools/track.h"

namespace mw::detect {

/// A walk is a copyable value with `void step(const Track&, size_t i)`, which is called for every point in order and
/// looks at none behind i.
class KeptTrack : public Track {
 public:
  /// The last points are walked anew each time, from a copy: a record that comes late may still change them.
  static constexpr size_t kLatePoints = 4;

  /// The walk that is called `name`, brought to the end of the track; `fresh` is how it begins. A name stands for one
  /// walk: what else it depends on is a part of it.
  template <typename Walk>
  const Walk& follow(const std::string& name, const Walk& fresh) {
    std::unique_ptr<Walked>& slot = walks_[name];
    if (slot == nullptr) slot = std::make_unique<WalkedBy<Walk>>(fresh);
    auto* walked = dynamic_cast<WalkedBy<Walk>*>(slot.get());
    MW_CHECK(walked != nullptr);
    if (walked->version != version_) walked->go_on(*this);
    walked->version = version_;
    return walked->now;
  }
  /// rises() and falls().
  std::vector<Rise> rises(const std::string& name, const RiseRule& rule, Shape shape = Shape::kPlain) {
    return follow(name, RiseWalk(rule, shape)).found();
  }
  std::vector<Rise> falls(const std::string& name, const RiseRule& rule) {
    return falls_of(follow(name, RiseWalk(rule_of_falls(rule), Shape::kReciprocal)).found(), rule);
  }

  /// The series has one point more.
  void put(const Point& point);
  /// The only point of the track is another one.
  void put_only(const Point& point);

 private:
  struct Walked {
    virtual ~Walked() = default;
    size_t at = 0;  ///< points that `settled` has walked
    uint64_t version = 0;
  };
  template <typename Walk>
  struct WalkedBy final : Walked {
    explicit WalkedBy(const Walk& fresh) : settled(fresh), now(fresh) {}
    void go_on(const KeptTrack& track) {
      const size_t firm = track.size() > kLatePoints ? track.size() - kLatePoints : 0;
      for (; at < firm; ++at) settled.step(track, at);
      now = settled;
      for (size_t i = at; i < track.size(); ++i) now.step(track, i);
    }
    Walk settled, now;
  };

  void altered(size_t lowest);

  std::map<std::string, std::unique_ptr<Walked>, std::less<>> walks_;
  size_t longest_ = 0;  ///< points that there were at any time: no walk has settled beyond kLatePoints before it
  uint64_t version_ = 1;
};

/// The tracks of one series, as tracks_of() makes them.
class KeptTracks {
 public:
  /// Takes what is new in `series`, which is the same one each time. Begins anew when it was rewritten.
  std::deque<KeptTrack>& up_to_date(const Series& series);

 private:
  void begin_anew(const Series& series);
  void take(const Point& point);
  bool replace(const Point& point);

  std::deque<KeptTrack> tracks_;
  size_t taken_ = 0;  ///< points of the series
  Point last_;        ///< the last of them, as it was taken
  uint64_t rewritten_ = 0;
};

}  // namespace mw::detect
