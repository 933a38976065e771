SET 'state.checkpoints.dir' = '/var/lib/sluice/orders';
