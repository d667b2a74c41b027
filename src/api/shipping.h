// Shipping checkpoints to an object store and back: what is asked, and what is answered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "core/event.h"
#include "core/supervise/run_spec.h"

namespace mw {

/// Where a run's checkpoints lie outside of this machine, and how they are reached.
struct StoreAddress {
  std::string place;                      ///< "s3://bucket/run", or a folder: "/mnt/share/run", "file:///mnt/share/run"
  std::string endpoint, region, profile;  ///< of S3; "": as the environment and ~/.aws say
  std::string addressing = "auto";        ///< of S3: "path", "host", or "auto"
  int parallel = 8;                       ///< requests at once
  int64_t rate = 0;                       ///< bytes a second; 0: no limit
  bool root = false;                      ///< a whole bucket will do: runs are looked for below it
  /// Called now and then, from any thread, with bytes done and in all.
  std::function<void(int64_t, int64_t)> progress;
};

/// The store of a supervised run.
inline StoreAddress store_of(const RunSpec& spec) {
  StoreAddress address;
  address.place = spec.store;
  address.endpoint = spec.store_endpoint;
  address.region = spec.store_region;
  address.profile = spec.store_profile;
  address.addressing = spec.store_addressing;
  address.parallel = spec.store_parallel;
  address.rate = static_cast<int64_t>(spec.store_limit);
  return address;
}

struct PushRequest {
  StoreAddress store;
  std::string path;        ///< a checkpoint's folder, or the folder of several of them
  int64_t step = kNoStep;  ///< kNoStep: as the folder's name says; of several the newest
  bool older = false;      ///< `latest` may go back to a lower step
  bool suspect = false;    ///< also one that was found suspect
};
struct PushAnswer {
  enum class Latest { kMoved, kKept, kFenced };
  std::string path, checkpoint;  ///< the folder; its id in the store
  int64_t step = kNoStep;
  int64_t files = 0, bytes = 0;
  int64_t sent = 0;                ///< bytes that went over the wire; the others were there
  bool there = false;              ///< all of it was in the store before
  std::string scanned;             ///< "whole" or "unknown"
  std::string lacks;               ///< what a resume needs and is not in it: "optimizer"; "": nothing, or nobody knows
  std::vector<std::string> notes;  ///< why it was chosen of several, and what it is not good for
  std::string verified;            ///< how the store's copies were compared: "checksums" or "sizes"
  bool swaps = true;               ///< the store keeps conditions: `latest` has one owner at a time
  Latest latest = Latest::kMoved;
  int64_t latest_before = kNoStep;
  int64_t epoch = 0;
  double seconds = 0;
};

struct PullRequest {
  StoreAddress store;
  std::string folder;      ///< that is made
  int64_t step = kNoStep;  ///< kNoStep: the newest
  /// Takes what lies in its place out of the way, once all of it has come and is right; nullptr: nothing may lie there.
  std::function<Result<void>()> make_way = nullptr;
};
struct PullAnswer {
  std::string folder, checkpoint, name;  ///< the checkpoint's id; the name that its folder had
  int64_t step = kNoStep;
  int64_t files = 0, bytes = 0;
  int64_t received = 0;  ///< bytes that came over the wire; the others were there from an earlier try
  bool latest = false;   ///< `latest` names it
  Time pushed;
  std::string framework, layout;
  std::vector<std::pair<std::string, std::string>> run;
  std::vector<std::string> notes;
  std::vector<std::string> beside;  ///< what belongs to it and lies in folders of its own
  double seconds = 0;
};

/// What a machine needs to go on with a run from its store.
struct StartRequest {
  StoreAddress store;
  std::string folder;                ///< for the run's checkpoints; "": where they lay on the machine that shipped them
  std::vector<std::string> command;  ///< of the run
  std::vector<std::string> resume;   ///< of its settings, for {resume}
  std::string framework;  ///< that the command line or midwatch.toml names; "": as the store or its files say
  std::vector<std::string> knowledge;                         ///< folders with the user's own dialects
  std::string home, name;                                     ///< of the run that is to begin, as of RunRequest
  bool may_move = true;                                       ///< broken checkpoints may be quarantined without asking
  std::function<void(int64_t, int64_t)> comparing = nullptr;  ///< as StoreAddress::progress, of what is here and read
};
struct StartAnswer {
  std::string taken, taken_hint;  ///< who has the folder of checkpoints, and what to do; else "". Nothing was done then
  std::string name;               ///< of the run, as it was asked for or made
  bool empty = false;             ///< nothing to go on from is known: the run begins as its trainer does by itself
  bool here = false;              ///< the checkpoint was on this machine already
  bool further = false;           ///< likewise, and the store has none that is as far ...
  bool proven = true;             ///< it is whole; else nothing speaks against it
  int64_t shipped = kNoStep;      ///< ... but this one; kNoStep: none
  std::string root;               ///< the folder of all checkpoints
  std::vector<std::string> words;                  ///< for {resume} in the command
  std::map<std::string, std::string> environment;  ///< W&B's, of the run that saved it
  Duration receiving;                              ///< time in which bytes of it came
  std::string fingerprint;  ///< of the run that shipped it, docs/formats/fingerprint.md; "": the store does not say
  std::string pointer;      ///< file that names the checkpoint; "": its framework has none
  std::string pointer_was;  ///< what it named before, where that is something else; ""
  std::vector<std::string> moved;  ///< what was quarantined or got another name, a sentence each; also in the notes
  std::string warning;  ///< why the command may begin from scratch all the same, and what to type; "": nothing says so
  PullAnswer pulled;
};

/// The journals and logs that runs shipped beside their checkpoints.
struct LogsRequest {
  StoreAddress store;
  std::string folder;  ///< below which a folder of each run is made
};
struct LogsAnswer {
  struct Run {
    std::string name, folder;
    int64_t files = 0, bytes = 0;
  };
  std::vector<Run> runs;
};

struct RemoteRequest {
  StoreAddress store;
  bool check = false;  ///< ask the store for every file
};
struct RemoteAnswer {
  struct Checkpoint {
    std::string id, name, framework, scanned, verified, parent;
    int64_t step = kNoStep, files = 0, bytes = 0, epoch = 0;
    Time pushed;
    bool latest = false;
    std::string trouble;
    std::vector<std::pair<std::string, std::string>> run;
    bool given_up = false;  ///< all that is wrong with it: latest was moved to an earlier step since
  };
  std::vector<Checkpoint> checkpoints;  ///< the highest step first
  std::vector<std::string> notes;
  int64_t epoch = 0;  ///< how often somebody began to push
};

}  // namespace mw
