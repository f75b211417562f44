shares_OBJECTS := $(addprefix shares/,root_files.o share_assignment.o share_claims.o share_owner.o share_plan.o share_records.o share_sessions.o)
UNIT_TESTS += tests/unit/shares/test_shares
test_shares_PARTS := tests/unit/shares/share_simulation.o
