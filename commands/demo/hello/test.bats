# Tests of `demo hello`. The package cli-host-test runs them: cli test demo
load "$CLI_TEST_LIB"

@test "hello greets the user" {
  USER=ada run "$CLI_TEST_PROGRAM" demo hello
  assert_success
  assert_output "Hello, ada!"
}

@test "hello greets whom you name" {
  run "$CLI_TEST_PROGRAM" demo hello "Grace Hopper"
  assert_output "Hello, Grace Hopper!"
}

@test "a variable of the caller replaces the greeting" {
  DEMO_GREETING=Ahoy run "$CLI_TEST_PROGRAM" demo hello Ada
  assert_output "Ahoy, Ada!"
}
