shares_OBJECTS := $(addprefix shares/,root_files.o share_claims.o share_owner.o share_plan.o share_records.o)
UNIT_TESTS += tests/unit/shares/test_shares
test_shares_PARTS := tests/unit/shares/share_simulation.o
