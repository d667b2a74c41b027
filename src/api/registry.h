// The record that every run leaves, and how runs are found by it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "core/event.h"

namespace mw {

/// What a run was, did and cost. Made from its journal and the fingerprints of its attempts; nothing in it is made up:
/// what is not known is empty, 0 or kNoStep. Text in it is foreign and not escaped.
struct RunRecord {
  struct Attempt {
    Time began, last;                                   ///< first and last sign of life
    int64_t first_step = kNoStep, last_step = kNoStep;  ///< that it reported
    int64_t resumed_at = kNoStep;
    std::string end;     ///< how it ended, a phrase; "": not known, or it goes on
    double seconds = 0;  ///< that it lasted, where something else than those two times shows it; 0: nothing does
  };
  struct Incident {
    uint32_t id = 0;
    std::string kind, severity, summary;
    bool open = false;
    Time at;
    int64_t step = kNoStep;  ///< of the onset
    uint16_t attempt = 0;    ///< from 1; 0: not known
    std::string cause, fix;  ///< of the leading cause: its name, what a person can do
    std::string outcome;     ///< what became of it: "open at the end", "over", what midwatch did
  };
  struct Figure {
    std::string name, unit;
    bool evaluation = false;
    double first = 0, last = 0, best = 0;
    int64_t first_step = kNoStep, last_step = kNoStep, best_step = kNoStep;
    bool rated = false;  ///< it is known which way is better; else `best` means nothing
  };
  struct Checkpoint {
    int64_t step = kNoStep, bytes = 0;
    Time at;
    std::string verified, path;
    bool saved = false;
  };
  struct Note {
    Time at;
    int64_t step = kNoStep;
    std::string who, text, kind;  ///< kind: as of core/notes.h
  };
  struct Change {
    int64_t attempt = 0;  ///< the later one
    std::string what, name, before, after;
  };
  struct Machine {
    std::string name, gpus;       ///< gpus: "2 x NVIDIA H100 80GB HBM3"
    int64_t first = 0, last = 0;  ///< attempts on it, from 1
  };
  std::string name, folder;
  Time began, ended;                      ///< by the run's own clock, else by that of the machine that watched
  double seconds = 0;                     ///< that its attempts lasted, together
  std::string verdict, status, headline;  ///< status: the first word of every view, "CRASHED"
  std::string framework, version;
  std::vector<std::pair<std::string, std::string>> settings;  ///< the canonical ones first
  std::string wandb;                                          ///< address of its page
  std::vector<std::string> command;
  int64_t step = kNoStep, planned = 0, steps = 0;  ///< the last one, of how many, how many were seen
  double step_seconds = 0;                         ///< pace of the last ones
  uint64_t critical = 0;                           ///< critical incidents that are open
  double cost_per_hour = 0;                        ///< 0: not known
  std::vector<Attempt> attempts;
  std::vector<Incident> incidents;
  std::vector<Figure> figures;
  std::vector<Checkpoint> checkpoints;  ///< the last ones, as many as are kept
  uint64_t checkpoints_in_all = 0;
  std::vector<Note> notes;  ///< with lessons and tags
  std::vector<std::string> tags;
  std::vector<Change> changes;  ///< between attempts
  std::vector<Machine> machines;
  std::string asks;  ///< for what midwatch waits for a person's approval: "break", "restart"; "": nothing
};

/// Which runs are wanted: all that is given must hold, and texts are compared without regard to case.
struct RunFilter {
  std::string framework, model, status, incident;  ///< parts of words; "": any
  std::vector<std::string> tags;                   ///< whole; all of them
  Time since;                                      ///< it began then or later
  std::vector<std::string> words;                  ///< each stands somewhere in the record
  bool empty() const {
    return framework.empty() && model.empty() && status.empty() && incident.empty() && tags.empty() && words.empty() &&
           !since.known();
  }
};

}  // namespace mw
