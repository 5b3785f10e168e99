#include "pipeline/cli/sql_prompt.h"

#include <histedit.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/sql_host/completion.h"

namespace driftless {
namespace {

constexpr int kRemembered = 1000;  // statements
volatile std::sig_atomic_t interrupted = 0;

std::string HistoryFile() {
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.driftless-sql-history";
}

class Prompt {
 public:
  Prompt(SqlSessionStore* session, SqlClient* client)
      : session_(*session), client_(*client), file_(HistoryFile()) {
    history_.reset(history_init());
    HistEvent event;
    history(history_.get(), &event, H_SETSIZE, kRemembered);
    history(history_.get(), &event, H_SETUNIQUE, 1);
    if (!file_.empty()) history(history_.get(), &event, H_LOAD, file_.c_str());
    edit_.reset(el_init("driftless", stdin, stdout, stderr));
    el_set(edit_.get(), EL_CLIENTDATA, this);
    el_set(edit_.get(), EL_PROMPT, &Prompt::Text);
    el_set(edit_.get(), EL_EDITOR, "emacs");
    el_set(edit_.get(), EL_HIST, history, history_.get());
    el_set(edit_.get(), EL_ADDFN, "complete-name", "Completes a word", &Prompt::Complete);
    el_set(edit_.get(), EL_BIND, "^I", "complete-name", nullptr);
    el_source(edit_.get(), nullptr);  // ~/.editrc
  }

  void Run() {
    while (!client_.done()) {
      if (interrupted != 0) Discard();  // between two lines
      int length = 0;
      const char* line = el_gets(edit_.get(), &length);
      if (line == nullptr) {
        std::fputs("\n", stdout);
        if (interrupted == 0) return;
        Discard();
        continue;
      }
      std::string_view text(line, static_cast<size_t>(length));
      if (text.ends_with('\n')) text.remove_suffix(1);
      Take(text);
    }
  }

 private:
  struct EndEdit {
    void operator()(EditLine* each) const { el_end(each); }
  };
  struct EndHistory {
    void operator()(History* each) const { history_end(each); }
  };

  // What has been typed of a statement.
  void Discard() {
    interrupted = 0;
    client_.Discard();
    el_reset(edit_.get());
  }

  void Take(std::string_view line) {
    const std::string before = client_.lines();
    const auto answer = client_.Line(line);
    if (!answer) return;
    if (!client_.done())
      Remember(before.empty() ? std::string(line) : before + "\n" + std::string(line));
    std::fputs(answer->c_str(), stdout);
    std::fputs("\n", stdout);
  }

  void Remember(const std::string& statement) {
    const std::string entry = HistoryEntry(statement);
    HistEvent event;
    if (entry.empty()) return;
    history(history_.get(), &event, H_ENTER, entry.c_str());
    if (!file_.empty()) history(history_.get(), &event, H_SAVE, file_.c_str());
  }

  static Prompt* Of(EditLine* edit) {
    void* self = nullptr;
    el_get(edit, EL_CLIENTDATA, &self);
    return static_cast<Prompt*>(self);
  }

  static char* Text(EditLine* edit) {
    static std::string prompt(kSqlPrompt);
    static std::string more(kSqlContinuation);
    return Of(edit)->client_.in_statement() ? more.data() : prompt.data();
  }

  static unsigned char Complete(EditLine* edit, int) {
    Prompt& self = *Of(edit);
    const LineInfo* line = el_line(edit);
    const std::string_view before(line->buffer, static_cast<size_t>(line->cursor - line->buffer));
    const Completion completion = CompleteWord(before, self.session_.Names());
    if (!completion.insert.empty()) {
      return el_insertstr(edit, completion.insert.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    }
    if (completion.candidates.empty()) return CC_ERROR;
    std::fputs("\n", stdout);
    for (const std::string& each : completion.candidates) std::printf("%s  ", each.c_str());
    std::fputs("\n", stdout);
    return CC_REDISPLAY;
  }

  SqlSessionStore& session_;
  SqlClient& client_;
  const std::string file_;
  std::unique_ptr<History, EndHistory> history_;
  std::unique_ptr<EditLine, EndEdit> edit_;
};

}  // namespace

void RunSqlPrompt(SqlSessionStore* session, SqlClient* client) {
  std::setlocale(LC_CTYPE, "");
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = [](int) { interrupted = 1; };  // no SA_RESTART: the reading of a line ends
  sigaction(SIGINT, &action, &before);
  std::puts("Statements end with ; HELP; lists commands, QUIT; ends the session.");
  if (!HistoryFile().empty())
    std::printf("Command history file path: %s\n\n", HistoryFile().c_str());
  Prompt(session, client).Run();
  sigaction(SIGINT, &before, nullptr);
}

}  // namespace driftless
