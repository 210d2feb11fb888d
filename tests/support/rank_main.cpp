#include "tests/support/rank_folder.hpp"

int main(int argc, char** argv) { return voxherd::toy::run_on_all_ranks(argc, argv); }
