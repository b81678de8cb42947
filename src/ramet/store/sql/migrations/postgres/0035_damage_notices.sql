-- One more kind of notice, about a damaged database.
ALTER TABLE notices DROP CONSTRAINT notices_kind_check;
ALTER TABLE notices ADD CONSTRAINT notices_kind_check CHECK (kind IN
    ('changed_files', 'unreadable_verdict', 'gave_up', 'timeout', 'stuck', 'limit', 'cut', 'run_bound', 'review_bound',
     'parked', 'budget', 'refused', 'damaged'));
