// Where figures go beside the log: the files of other people's dashboards, under the names that the framework gives
// them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "practice/speak.h"

namespace practice {

class Sink {
 public:
  virtual ~Sink() = default;
  using Figures = std::vector<std::pair<const char*, double>>;
  virtual void put(int64_t step, mw::Time at, const Figures& figures) = 0;
  virtual void finished(mw::Time at) { (void)at; }
};

/// What the framework calls a step's figures, for its dashboards.
Sink::Figures dashboard_figures(std::string_view speak, const StepFigures& f);
Sink::Figures dashboard_figures(std::string_view speak, const Evaluation& e);

/// "jsonl,tfevents,wandb" or some of them, in `folder`, begun at `start`: training_metrics.jsonl (appended to),
/// tensorboard/events.out.tfevents.SECONDS.practice and wandb/run-DATE_TIME-practice/run-practice.wandb. False when
/// `kinds` names another one.
bool open_sinks(std::string_view kinds, const std::string& folder, mw::Time start,
                std::vector<std::unique_ptr<Sink>>& sinks);

}  // namespace practice
