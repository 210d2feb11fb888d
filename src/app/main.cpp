#include "src/app/commit.hpp"
#include "src/app/program.hpp"

int main(int argc, char** argv) { return voxherd::run_program(argc, argv, voxherd::all_commands(), voxherd::commit); }
