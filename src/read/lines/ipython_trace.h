// The lines of a traceback as IPython prints it, in Colab, Kaggle and Jupyter.
#pragma once

#include <string_view>

namespace mw {

/// "OSError                                   Traceback (most recent call last)": no colon follows.
bool is_ipython_head(std::string_view message);

struct IpythonLine {
  enum class Kind {
    kOther,
    kFrame,  ///< where something was called
    kArrow,  ///< the source line that was called, among those around it
    kCode,   ///< one of those around it
  };
  Kind kind = Kind::kOther;
  std::string_view file;      ///< of a frame: a path, "Cell In[7]", "<ipython-input-5-ab12>"
  std::string_view line;      ///< digits; of a frame of older versions "": its arrow has them
  std::string_view function;  ///< of a frame, without its arguments; "": not said
  std::string_view code;      ///< of an arrow, without its indentation
};

/// What one line is, within a traceback that began with such a head:
///   Cell In[7], line 3                      File ~/trl/grpo_trainer.py:237, in GRPOTrainer.__init__(self, model)
///   <ipython-input-5-ab12> in <module>      /usr/lib/python3.10/x.py in f(self)      /tmp/ipykernel_1/4.py in <cell
///   line: 1>()
///   ---> 237     model = load(model)            236     # around it
IpythonLine ipython_line(std::string_view message);

}  // namespace mw
