// What the caller is told while servers keep it waiting.
#include "remote/waiting.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace onnxar::testing {
namespace {

using std::chrono::milliseconds;

class WaitingTest : public ::testing::Test {
 protected:
  void pass(Waiting& waiting, int milliseconds_of_time, std::uint64_t bytes = 0) {
    waiting.pass(milliseconds(milliseconds_of_time), bytes, address_);
  }

  Address address_{.url = "https://host/", .site = "https://host:443", .shown = {}};
  std::vector<std::string> told_;
  WaitingCallback tell_ = [this](std::string_view host, milliseconds waited) {
    told_.push_back(std::string(host) + " " + std::to_string(waited.count()));
  };
};

TEST_F(WaitingTest, IsReportedAfterASecondAndWhenItEnds) {
  Waiting waiting(tell_);
  pass(waiting, 900);
  EXPECT_EQ(told_, std::vector<std::string>());
  pass(waiting, 100);
  pass(waiting, 100);
  pass(waiting, 100, 1U << 20U);
  pass(waiting, 900);
  EXPECT_EQ(told_, (std::vector<std::string>{"host 1000", "host 1100", "host 0"}));
}

TEST_F(WaitingTest, IsOverWhenTheCallEnds) {
  {
    Waiting(tell_).pass(milliseconds(1000), 0, address_);
  }
  EXPECT_EQ(told_, (std::vector<std::string>{"host 1000", "host 0"}));
}

TEST_F(WaitingTest, NamesThePortWhereItIsNotTheUsualOne) {
  address_.site = "http://host:8080";
  Waiting waiting(tell_);
  pass(waiting, 1000);
  EXPECT_EQ(told_.front(), "host:8080 1000");
}

TEST_F(WaitingTest, MayBeEndedByTheCallbackAndNeedsNone) {
  const WaitingCallback none;
  Waiting(none).pass(milliseconds(1000), 0, address_);
  const WaitingCallback throwing = [](std::string_view, milliseconds) { throw std::runtime_error("enough"); };
  EXPECT_THROW(Waiting(throwing).pass(milliseconds(1000), 0, address_), std::runtime_error);
}

}  // namespace
}  // namespace onnxar::testing
