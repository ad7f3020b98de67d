# Tests of `demo files largest`. The package cli-host-test runs them: cli test demo
load "$CLI_TEST_LIB"

setup() {
  mkdir files
  head -c 100000 /dev/zero >files/large
  head -c 50000 /dev/zero >files/medium
  echo small >files/small
}

@test "the largest file is first" {
  run "$CLI_TEST_PROGRAM" demo files largest files
  assert_success
  assert_line --index 0 --regexp '^[0-9]+[[:blank:]]files/large$'
  assert_line --index 1 --partial files/medium
}

@test "--count limits the list" {
  run "$CLI_TEST_PROGRAM" demo files largest files --count 2
  assert_success
  refute_line --partial files/small
}

@test "find gets the directory of the command line" {
  fake find
  run "$CLI_TEST_PROGRAM" demo files largest files
  assert_success
  assert_called find files -type f
}

@test "a directory that does not exist is a usage error" {
  fake find
  run "$CLI_TEST_PROGRAM" demo files largest nowhere
  assert_status 2
  assert_output --partial nowhere
  assert_not_called find
}
